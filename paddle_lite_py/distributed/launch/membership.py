"""Which nodes make up the world of an elastic job: a machine of states, without clock or network of its own."""

from __future__ import annotations

import math
import secrets
from typing import Any, NamedTuple

from ..elastic import RESTART_CODE
from .meeting import node_place

# Seconds that a job which was under way waits for more nodes than it needs; and that a newcomer waits for others.
LAST_CALL = 3.0
# A job with too few nodes waits so many times the seconds that one with enough of them waits for more.
PATIENCE = 10

Word = dict[str, Any]


class Terms(NamedTuple):
    """The settings that all launchers of a job must share.

    Arguments:
        least, most: how many nodes a world has.
        processes: of a node.
        max_restart: how often processes may fail.
        timeout: seconds that a job which begins waits for more nodes than it needs.
        ttl: seconds after which a silent node is taken for dead.
    """

    least: int
    most: int
    processes: int
    max_restart: int
    timeout: float
    ttl: float

    @property
    def nodes(self) -> str:
        """As --nnodes has them."""
        return str(self.most) if self.least == self.most else f"{self.least}:{self.most}"


class Member:
    """A node of the job, by its launcher.

    Its state: "ready" for a world, in the "world", "failed", or "done". It is `inside` if the last world has it.
    """

    def __init__(self, now: float) -> None:
        self.state, self.seen, self.inside = "ready", now, False
        self.card: Word = {}


class Membership:
    """The nodes of a job and their world. Words come in by `heard` and `lost`; those in `said` are to be sent.

    Arguments:
        terms: what each launcher must agree with.
    """

    def __init__(self, terms: Terms, now: float) -> None:
        self.terms = terms
        self.members: dict[int, Member] = {}
        self.said: list[tuple[int, Word]] = []
        self.worlds = self.failures = 0
        self.changed = now  # when a node came or went last
        self.newcomer = math.inf  # when one came that the world under way has room for
        self.failed = self.shrunk = self.broken = False  # what has happened to the last world
        self.over: Word | None = None

    # -- messages --------------------------------------------------------------------------------------------------
    def heard(self, who: int, word: Word, now: float) -> None:
        """A word of a node."""
        what, member = word["say"], self.members.get(who)
        if what == "ready":
            return self._ready(who, word["card"], now)
        self.said.append((who, {"say": "here"}))
        if member is None:
            return
        member.seen = now
        if what == "failed":
            member.state, self.failed = "failed", True
            self._break()
        elif what == "done":
            member.state = "done"
            self._finish()
        elif what == "leave":
            self._remove(who, now)

    def _ready(self, who: int, card: Word, now: float) -> None:
        if self.over is not None:
            return self.said.append((who, self.over))
        least, most, processes = card["terms"]
        theirs = self.terms._replace(least=least, most=most, processes=processes)
        if theirs != self.terms:
            return self.said.append((who, {"say": "no", "why": _differ(theirs, self.terms)}))
        if who not in self.members:
            self.changed, self.newcomer = now, min(self.newcomer, now)
        member = self.members.setdefault(who, Member(now))
        member.state, member.seen, member.card = "ready", now, card
        self.worlds, self.failures = max(self.worlds, card["worlds"]), max(self.failures, card["failures"])
        self._finish()

    def lost(self, who: int, now: float) -> None:
        """The launcher of a node is gone."""
        if (member := self.members.get(who)) is None:
            return
        self._remove(who, now)
        if member.state == "world":
            self._break()
        self._finish()

    def _remove(self, who: int, now: float) -> None:
        member = self.members.pop(who)
        self.changed, self.shrunk = now, self.shrunk or member.inside

    def _break(self) -> None:
        """The world has lost a part: the rest of it is to end at once."""
        self.broken = True
        self._tell("end", [w for w, m in self.members.items() if m.state in ("world", "done")])

    def _finish(self) -> None:
        """Once nothing runs any more: the job is over if all are done; else those who are begin again as well."""
        inside = {w: m.state for w, m in self.members.items() if m.inside}
        if "done" not in inside.values() or "world" in inside.values():
            return
        if set(inside.values()) == {"done"} and not self.broken:
            return self._over(0, "")
        self._tell("end", [w for w, state in inside.items() if state == "done"])

    # -- what follows ----------------------------------------------------------------------------------------------
    def tick(self, now: float) -> None:
        """Handle the passing of time: silent nodes, newcomers that are admitted, a new world."""
        for who in [w for w, m in self.members.items() if now - m.seen > self.terms.ttl]:
            self._tell("lost", [who])
            self.lost(who, now)
        inside = [m.state for m in self.members.values() if m.inside]
        free = len(inside) < min(self.terms.most, len(self.members))
        if free and set(inside) == {"world"} and now - self.newcomer > LAST_CALL:
            self.newcomer = math.inf
            self._tell("regroup", [w for w, m in self.members.items() if m.inside])
        if self.members and self.over is None and all(m.state == "ready" for m in self.members.values()):
            self._gather(now)

    def _gather(self, now: float) -> None:
        if self.failed and not self.shrunk:
            self.failures += 1
        self.failed = self.shrunk = False  # counted
        terms, count = self.terms, len(self.members)
        if self.failures > terms.max_restart:
            return self._over(1, f"the job has failed {self.failures} times; --max_restart is {terms.max_restart}")
        wait = LAST_CALL if self.worlds else terms.timeout
        if count >= terms.most or (count >= terms.least and now - self.changed >= wait):
            return self._form()
        if now - self.changed > PATIENCE * terms.timeout:
            self._over(RESTART_CODE, f"{count} of at least {terms.least} nodes are here, and no other has come for "
                       f"{PATIENCE * terms.timeout:g} s (--elastic_timeout)")  # fmt: skip

    def _form(self) -> None:
        """A new world: in the order of --rank, then of the last world, then as the nodes have come."""

        def order(who: int) -> tuple[float, float, int]:
            card = self.members[who].card
            rank, number = (card[k] if card[k] >= 0 else math.inf for k in ("rank", "number"))
            return rank, number, who

        chosen = sorted(self.members, key=order)[: self.terms.most]
        cards = [self.members[who].card for who in chosen]
        self.worlds, self.newcomer, salt = self.worlds + 1, math.inf, secrets.token_hex(16)
        known = {"worlds": self.worlds, "failures": self.failures, "salt": salt}
        self.broken = False
        for who, member in self.members.items():
            member.inside = who in chosen
        for number, who in enumerate(chosen):
            self.members[who].state = "world"
            self.said.append((who, {"say": "world", "place": list(node_place(cards, number)), **known}))

    def _over(self, code: int, why: str) -> None:
        self.over = {"say": "over", "code": code, "why": why}
        self.said += [(who, self.over) for who in self.members]

    def _tell(self, what: str, to: list[int]) -> None:
        self.said += [(who, {"say": what}) for who in to]


def _differ(theirs: Terms, ours: Terms) -> str:
    if theirs.processes != ours.processes:
        return (
            f"this node has --nproc_per_node {theirs.processes}, and those that are here have {ours.processes}; "
            "give the same to all"
        )
    return f"this node has --nnodes {theirs.nodes}, and those that are here have {ours.nodes}; give the same to all"
