"""A job whose nodes come and go: a world after the other, each from the last checkpoint."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

from ..elastic import RESTART_CODE
from ..spawning import free_ports
from .asked import Asked, alive, catch_sigterm
from .job import Job, run_once
from .link import Link
from .meeting import NodePlace, address_towards
from .membership import PATIENCE, Terms, Word

# Asked to end, a process that saves nothing ends so.
UNSAVED = 143


class Elastic(NamedTuple):
    """The settings of an elastic job besides what it runs.

    Arguments:
        master: host:port where the launchers meet.
        level: 0: a node whose process fails ends, and the others wait for another one; from 1 on it begins again.
        rank: the number of this node; -1: as they come.
        host: its address; by default that under which it reaches the master.
        terms: what all launchers agree on.
    """

    master: str
    level: int
    rank: int
    host: str | None
    terms: Terms


def run_elastic(job: Job, how: Elastic) -> int:
    """Run the processes of this node in one world after the other; the exit code."""
    with catch_sigterm() as asked:
        node = _Node(job, how, asked)
        try:
            return node.run()
        except KeyboardInterrupt:
            return 130
        except (TimeoutError, PermissionError) as e:
            print(e, file=sys.stderr)
            return RESTART_CODE if isinstance(e, TimeoutError) else 2
        finally:
            node.link.say("leave")
            node.link.close()


class _Node:
    """This node, through all worlds."""

    def __init__(self, job: Job, how: Elastic, asked: Asked) -> None:
        self.job, self.how, self.asked = job, how, asked
        self.link = Link(how.master, job.id, how.terms)
        self.worlds = self.failures = 0
        self.number = -1

    def run(self) -> int:
        """Return all worlds; the exit code."""
        code = 0
        self._connect()
        while not self.asked():
            self.link.say("ready", card=self._card())
            word = self._awaited("world", "over", "no", "lost")
            if word["say"] == "world":
                code, word = self._in_world(word)
                if word["say"] == "leave":
                    return RESTART_CODE if self.asked() and code else code
            if word["say"] in ("over", "no"):
                return self._end(word, code)
            if word["say"] == "lost":
                self._connect()
        return RESTART_CODE  # nothing runs that could be lost

    def _connect(self) -> None:
        self.link.connect(PATIENCE * self.how.terms.timeout, self._waits)

    def _waits(self) -> str:
        """Called while nothing runs here: whether this node should stop."""
        alive()
        return self.asked()

    def _card(self) -> Word:
        host = self.how.host or address_towards(self.link.at)
        ports = free_ports(self.how.terms.processes + 1, host)
        known = {"worlds": self.worlds, "failures": self.failures, "number": self.number}
        return {"terms": list(self.how.terms[:3]), "rank": self.how.rank, "host": host, "ports": ports, **known}

    def _awaited(self, *kinds: str) -> Word:
        """Wait for a message of one of these kinds; "leave" if this node is told to stop first."""
        while not self._waits():
            word = self.link.hear(0.2)
            if word is not None and word["say"] in kinds:
                return word
        return {"say": "leave"}

    # -- one world -------------------------------------------------------------------------------------------------
    def _in_world(self, word: Word) -> tuple[int, Word]:
        """Run the processes of a world; their exit code, and what comes of it."""
        place, terms = NodePlace(*word["place"]), self.how.terms
        self.worlds, self.failures, self.number = word["worlds"], word["failures"], place.number
        print(f"launch: world {self.worlds} of {place.nodes} nodes; this is node {place.number}", file=sys.stderr)
        key = self.link.secret_of(word["salt"])
        told = {
            "PADDLE_JOB_KEY": key,
            "PADDLE_ELASTIC_NP": terms.nodes,
            "PADDLE_ELASTIC_RESTARTS": str(self.worlds - 1),
            "PADDLE_ELASTIC_FULL_SIZE": str(terms.most * terms.processes),
        }
        tasks = [t._replace(env=t.env | told) for t in self.job.tasks(place, key)]
        heard: list[Word] = []
        code = run_once(self.job, tasks, self._called(heard))
        return code, self._what_follows(code, heard)

    def _called(self, heard: list[Word]) -> Callable[[], str]:
        """Return the request to the processes of this world, from a signal or the leader.

        Where who leads is gone its node may be, and the processes fail by themselves; but they may be saving just now.
        """
        words = {"regroup": "stop", "lost": "stop", "end": "end", "over": "end", "no": "end"}

        def called() -> str:
            if (word := self.link.hear()) is not None and word["say"] in words:
                heard.append(word)
            if self.asked():
                return self.asked()
            found = [words[w["say"]] for w in heard]
            return "end" if "end" in found else found[0] if found else ""

        return called

    def _what_follows(self, code: int, heard: list[Word]) -> Word:
        again: Word = {"say": "again"}
        if code == 130 or self.asked():
            return {"say": "leave"}
        if last := [w for w in heard if w["say"] in ("over", "no", "lost")]:
            return last[-1]
        if code == 0 and "end" not in [w["say"] for w in heard]:
            self.link.say("done")
            word = self._awaited("over", "no", "end", "lost")
            return again if word["say"] == "end" else word
        if code in (0, RESTART_CODE) or heard:
            return again
        self.link.say("failed")
        if self.how.level == 0:
            print("launch: --elastic_level is 0: this node ends, the others wait for one in its place", file=sys.stderr)
            return {"say": "leave"}
        return again

    def _end(self, word: Word, code: int) -> int:
        if word.get("why"):
            print(f"launch: {word['why']}", file=sys.stderr)
        if word["say"] == "no":
            return 2
        return code if word["code"] == 1 and code not in (0, RESTART_CODE, UNSAVED) else word["code"]
