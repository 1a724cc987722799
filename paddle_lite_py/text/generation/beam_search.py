"""Beam search: the best of several candidates for each prompt."""

from __future__ import annotations

import numpy as np

from ...eager.tensor import Tensor
from ...nn import functional as F
from ...ops.convert import assign, to_tensor
from ...ops.creation import arange, full, zeros
from ...ops.gather import index_select, take_along_axis
from ...ops.joining import concat
from ...ops.search import topk, where
from .choice import Rows, processed
from .config import GenerationConfig
from .decoder import TokenDecoder, append, is_stopped, occurring
from .prompts import Prompts, padded

NEVER = -1e9  # a score below that of any candidate


class BeamSearch(TokenDecoder):
    """Rows are the candidates of all prompts; "running" [batch, beams] are their scores.

    The best candidates that have ended are in "answers" [batch, beams, capacity], with "counts" of tokens, ranked by
    "ranks" [batch, beams].
    A batch entry is finished when no running candidate can be better than its worst answer.

    Source: Wu et al., Google's Neural Machine Translation System, 2016.
    """

    def search(self, prompts: Prompts, config: GenerationConfig) -> tuple[Tensor, Tensor]:
        """Return the best answer to each prompt, [batch, k], and its ranking score, [batch]."""
        repeated = Prompts(*(np.repeat(a, config.num_beams, axis=0) for a in prompts))
        rows = self.start(repeated, config)
        self.read(rows, *padded(repeated, rows["ids"].shape[1]))
        self.extend(rows, to_tensor(config.max_new_tokens))
        best, count = rows["answers"][:, 0].numpy(), int(rows["counts"][:, 0].max())
        answers = np.stack([row[n : n + count] for row, n in zip(best, prompts.lengths, strict=True)])
        return to_tensor(answers), rows["ranks"][:, 0]

    def start(self, prompts: Prompts, config: GenerationConfig) -> Rows:
        """Return the state of rows whose prompts have not been read; each prompt occurs once for each beam."""
        rows, beams = super().start(prompts, config), config.num_beams
        batch = len(prompts.lengths) // beams
        first = np.full((batch, beams), NEVER, np.float32)
        first[:, 0] = 0  # all beams are equal before the first token
        return rows | {
            "running": to_tensor(first), "ranks": full([batch, beams], NEVER, "float32"),
            "answers": rows["ids"].reshape([batch, beams, -1]).clone(), "counts": zeros([batch, beams], "int64"),
            "finished": zeros([batch], "bool"), "step": zeros([], "int64"), "most": to_tensor(config.max_new_tokens),
            "power": to_tensor(float(config.length_penalty), dtype="float32"), "early": config.early_stopping,
        }  # fmt: skip

    def _is_short(self, rows: Rows, count: Tensor) -> Tensor:
        return (rows["step"] < count) & ~rows["finished"].all()

    def _advance(self, rows: Rows, tokens: Tensor, added: Tensor | None = None, is_empty: bool = False) -> None:
        logits = self.logits(rows, tokens, added, is_empty)
        words, (batch, beams) = logits.shape[-1], rows["running"].shape
        if "seen" in rows and is_empty:
            assign(occurring(rows, words), rows["seen"])
        scores = processed(F.log_softmax(logits, -1), rows).reshape([batch, beams, words])
        count = beams * max(2, 1 + rows["ends"].shape[0])
        best, places = topk((rows["running"].unsqueeze(2) + scores).reshape([batch, -1]), count)
        rows["step"].add_(zeros([], "int64") + 1)
        chosen, parents = places % words, places // words
        is_end = is_stopped(rows, chosen, parents) | (rows["step"] == rows["most"])
        self._end(rows, best, is_end, chosen, parents)
        self._continue(rows, best + where(is_end, NEVER, 0.0), chosen, parents)
        reachable = rows["running"][:, 0] / rows["step"].astype("float32") ** rows["power"]
        is_full = (rows["ranks"] > NEVER / 2).all(1)
        assign(rows["finished"] | (is_full & (rows["early"] | (reachable <= rows["ranks"].min(1)))), rows["finished"])

    def _end(self, rows: Rows, best: Tensor, is_end: Tensor, chosen: Tensor, parents: Tensor) -> None:
        """Put candidates that have ended, among the best ones, into the answers."""
        beams = rows["ranks"].shape[1]
        ranks = best[:, :beams] / rows["step"].astype("float32") ** rows["power"]
        is_open = is_end[:, :beams] & ~rows["finished"].unsqueeze(1)
        ids = rows["ids"].reshape(rows["answers"].shape)
        parents = parents[:, :beams].unsqueeze(2).expand(ids.shape)
        place = rows["lengths"].reshape([-1, beams]).unsqueeze(2)  # of the new token, in each beam alike
        is_next = arange(ids.shape[2]) == place
        ended = where(is_next, chosen[:, :beams].unsqueeze(2), take_along_axis(ids, parents, 1))
        merged, order = topk(concat([rows["ranks"], where(is_open, ranks, NEVER)], 1), beams)
        answers = concat([rows["answers"], ended], 1)
        assign(take_along_axis(answers, order.unsqueeze(2).expand(ids.shape), 1), rows["answers"])
        counts = concat([rows["counts"], rows["step"].expand(rows["counts"].shape)], 1)
        assign(take_along_axis(counts, order, 1), rows["counts"])
        assign(merged, rows["ranks"])

    def _continue(self, rows: Rows, scores: Tensor, chosen: Tensor, parents: Tensor) -> None:
        """Go on with the best candidates that have not ended."""
        batch, beams = rows["running"].shape
        running, order = topk(scores, beams)
        parents, chosen = take_along_axis(parents, order, 1), take_along_axis(chosen, order, 1).reshape([-1])
        sources = (parents + arange(batch).unsqueeze(1) * beams).reshape([-1])
        for tensor in (*rows["keys"], *rows["values"], rows["ids"], *([rows["seen"]] if "seen" in rows else [])):
            assign(index_select(tensor, sources, 0), tensor)
        append(rows, chosen)
        if "seen" in rows:
            assign(rows["seen"] | (F.one_hot(chosen, rows["seen"].shape[1]) > 0), rows["seen"])
        assign(running, rows["running"])
