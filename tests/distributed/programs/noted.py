"""What the processes of an elastic job note for the test that watches them."""

import json
import os
import time
from pathlib import Path


class Notes:
    """A file of events of one rank, and how long a step is to take."""

    def __init__(self, folder: Path, rank: int, size: int) -> None:
        self.folder, self.rank, self.size = folder, rank, size

    def __call__(self, what: str, **more: object) -> None:
        """Note an event."""
        line = {"what": what, "rank": self.rank, "size": self.size, "time": time.time(), "pid": os.getpid(), **more}
        with (self.folder / f"events.{self.rank}").open("a") as file:
            file.write(json.dumps(line) + "\n")

    def pause(self) -> None:
        """Wait as many seconds as the file `pause` says at this moment."""
        file = self.folder / "pause"
        time.sleep(float((file.read_text() or 0) if file.exists() else 0))
