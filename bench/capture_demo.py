"""Make `src/reproof/demo/event.json` again: run the demo application and let the SDK capture it.

The crash happens in a worker thread, as in production, and `sentry_sdk` sees it the usual way. Only
where things stand on disk is rewritten, so that the event names a server and not this machine.
"""

from __future__ import annotations

import json
import sys
import threading
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import sentry_sdk

if TYPE_CHECKING:
    from sentry_sdk.envelope import Envelope

DEMO = Path(__file__).parent.parent / "src" / "reproof" / "demo"
SERVER = "/srv/app"
captured: list[dict[str, object]] = []


class KeepingTransport(sentry_sdk.transport.Transport):
    """Keeps the events instead of sending them."""

    def capture_envelope(self, envelope: Envelope) -> None:
        """Keep the event of `envelope`."""
        event = envelope.get_event()
        if event is not None:
            captured.append(json.loads(json.dumps(event)))


def crash() -> None:
    """Book an order for a day on which no boat sails."""
    desk, tariff = import_module("ferry.desk"), import_module("ferry.tariff")
    party, place = desk.Party(adults=2, children=1), tariff.Place.CABIN
    order = ("skerry-north", date(2026, 11, 20), party, place)
    worker = threading.Thread(target=desk.quote, args=order, name="booking-worker")
    worker.start()
    worker.join()


def main() -> None:
    """Capture the crash and write the event."""
    sys.path.insert(0, str(DEMO / "app"))
    threading.excepthook = lambda _args: None
    sentry_sdk.init(
        dsn="https://public@sentry.invalid/1",
        transport=KeepingTransport,
        release="ferry@2026.11.1",
        environment="production",
        server_name="desk-1",
        project_root=str(DEMO / "app"),
        auto_session_tracking=False,
    )
    crash()
    (event,) = captured
    text = json.dumps(event, indent=1)
    text = text.replace(str(DEMO / "app"), SERVER)
    event = json.loads(text)
    event.pop("sdk_meta", None)
    event["extra"] = {"sys.argv": ["/srv/app/serve.py"]}
    event["modules"] = {"sentry-sdk": "2.75.0"}
    for value in event["exception"]["values"]:
        for frame in value["stacktrace"]["frames"]:
            if not frame.get("in_app"):
                library = frame["abs_path"].rpartition("/lib/")[2]
                frame["abs_path"] = f"/usr/local/lib/{library}"
    (DEMO / "event.json").write_text(json.dumps(event, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
