"""What octoDNS needs to plan a zone of records that are live as its files say: files, answers, a provider.

octoDNS compares what a YAML file declares with what a provider has. The provider here takes its records from
a file of JSON, so that nothing is fetched; that is less than `dpsync plan` does beside it.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

PROVIDER = """
import json, logging

from octodns.provider.base import BaseProvider
from octodns.record import Record

class Live(BaseProvider):
    SUPPORTS, SUPPORTS_GEO, SUPPORTS_DYNAMIC = {"A", "CNAME", "TXT"}, False, False

    def __init__(self, id, file):
        self.log, self.file = logging.getLogger(id), file
        super().__init__(id)

    def populate(self, zone, target=False, lenient=False):
        with open(self.file, encoding="utf-8") as answers:
            for item in json.load(answers):
                name = item.pop("name")
                zone.add_record(Record.new(zone, name, item, source=self, lenient=lenient), lenient=lenient)
        return True
"""
CONFIGURATION = """
providers:
  files: {class: octodns.provider.yaml.YamlProvider, directory: zones}
  live: {class: live.Live, file: live.json}
zones:
  example.com.: {sources: [files], targets: [live]}
"""


def prepared(directory: Path, records: int) -> None:
    """Write a zone of so many records, and the same as answers."""
    made = [_record(number) for number in range(records)]
    (directory / "zones").mkdir(parents=True)
    (directory / "live.py").write_text(PROVIDER, encoding="utf-8")
    (directory / "config.yaml").write_text(CONFIGURATION, encoding="utf-8")
    (directory / "live.json").write_text(json.dumps(made), encoding="utf-8")
    lines = (
        f"{item['name']}:\n  ttl: 300\n  type: {item['type']}\n  value: {json.dumps(item['value'])}\n"
        for item in made
    )
    (directory / "zones" / "example.com.yaml").write_text("---\n" + "".join(lines), encoding="utf-8")


def command(python: str) -> list[str]:
    """Return the command that plans the zone in the prepared directory."""
    return [python, "-m", "octodns.cmds.sync", "--config-file", "config.yaml", "--quiet"]


def is_there(python: str) -> bool:
    """Whether this Python has octoDNS."""
    found = subprocess.run([python, "-c", "import octodns"], stderr=subprocess.DEVNULL, check=False)
    return found.returncode == 0


def _record(number: int) -> dict[str, object]:
    kind, value = (
        ("A", f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"),
        ("CNAME", f"host-{number}.example.net."),
        ("TXT", f"text of record {number}"),
    )[number % 3]
    return {"name": f"record-{number:07}", "ttl": 300, "type": kind, "value": value}
