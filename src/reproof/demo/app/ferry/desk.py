"""The booking desk: orders come in as they were typed on the web site."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from ferry.tariff import Place, Season, Tariff

SPRING = Season("spring", date(2026, 3, 14), date(2026, 6, 19), Decimal("1.0"))
SUMMER = Season("summer", date(2026, 6, 20), date(2026, 9, 6), Decimal("1.6"))
AUTUMN = Season("autumn", date(2026, 9, 7), date(2026, 10, 31), Decimal("0.9"))

TARIFFS = {
    "skerry-north": Tariff(Decimal("18.20"), [SPRING, SUMMER, AUTUMN]),
    "skerry-south": Tariff(Decimal("24.00"), [SUMMER]),
}


@dataclass(frozen=True)
class Party:
    adults: int
    children: int = 0

    @property
    def size(self) -> int:
        return self.adults + self.children


def quote(route: str, day: date, party: Party, place: Place) -> Decimal:
    """Return what the party pays."""
    tariff = TARIFFS[route]
    discount = Decimal("0.5") * party.children / party.size
    full = tariff.price(place, day, party.size)
    return (full * (1 - discount)).quantize(Decimal("0.01"))
