"""What the tests run: an upstream package of their own, and small limits."""

from pathlib import Path

from annotate.pin import Pin
from annotate.recordings.runner import Limits

HERE = Path(__file__).parent
UPSTREAM = HERE / "upstream"
PIN = Pin("tiny", "https://example.invalid/tiny", "0" * 40)
SMALL = Limits(
    seconds=20.0,
    cpu_seconds=1,
    memory=500_000_000,
    file_size=1_000_000,
    output=20_000,
    processes=8,
    calls=5_000,
)
