"""What a crossing costs, by season and kind of place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum


class Place(Enum):
    DECK = "deck"
    LOUNGE = "lounge"
    CABIN = "cabin"


@dataclass(frozen=True)
class Season:
    name: str
    first: date
    last: date
    factor: Decimal


SURCHARGE = {Place.DECK: Decimal("0"), Place.LOUNGE: Decimal("7.50"), Place.CABIN: Decimal("39")}


class Tariff:
    """The price list of one route."""

    def __init__(self, base: Decimal, seasons: list[Season]) -> None:
        self.base = base
        self.seasons = seasons

    def season_on(self, day: date) -> Season | None:
        for season in self.seasons:
            if season.first <= day <= season.last:
                return season
        return None

    def price(self, place: Place, day: date, travellers: int) -> Decimal:
        season = self.season_on(day)
        single = self.base * season.factor + SURCHARGE[place]
        return (single * travellers).quantize(Decimal("0.01"))
