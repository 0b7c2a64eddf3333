"""Who writes the answer: a model if one may, can and tells the truth, else the merge.

Above: ask. Below: backends, grounding, merge, routing. Availability is asked first; both that and the writing have a
deadline of their own inside the call's. Any failure ends in the merge, and `Synthesis` says which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio

from callosum_mcp.answer.backends import create
from callosum_mcp.answer.backends.base import Backend, BackendError
from callosum_mcp.answer.evidence import Evidence
from callosum_mcp.answer.merge import disputed, merged
from callosum_mcp.answer.prompt import Prompt, prompt_for
from callosum_mcp.answer.prose import Sentence
from callosum_mcp.answer.routing import Size, candidates, size_of
from callosum_mcp.models.asking import AnswerPolicy, BackendSpec, RerankSpec, Synthesis, SynthesisStatus
from callosum_mcp.models.secrets import Mask, redacted, url_secrets

Create = Callable[[BackendSpec], Backend]
_DISPUTED = 2  # as many as the merge tells


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """Sentences that each carry a receipt, who wrote them, and how many more were taken out."""

    sentences: tuple[Sentence, ...]
    synthesis: Synthesis
    dropped: int = 0


class Writer:
    """Writes answers from evidence.

    Args:
        policy: Which models may write.
        create: Makes a backend.
    """

    def __init__(self, policy: AnswerPolicy, create: Create = create) -> None:
        self._policy = policy
        self._create = create
        self._backends: dict[str, Backend] = {}

    async def write(self, evidence: Evidence, *, synthesize: bool, deadline: float) -> Written:
        """The answer.

        Args:
            evidence: What it may rest on.
            synthesize: Whether the caller wants a model to write.
            deadline: Moment on anyio's clock at which the merge answers at the latest.
        """
        off = self._why_off(evidence, synthesize)
        if off is not None:
            return _by_merge(evidence, "merge", "off", off)
        size = size_of(evidence)
        backend, reason = await self.first_available(size, deadline)
        if backend is None:
            return _by_merge(evidence, "merge", "unavailable", reason, route=size)
        try:
            text = await completed(backend, prompt_for(evidence), deadline)
        except BackendError as fault:
            return _by_merge(evidence, backend.spec.name, "failed", str(fault), backend.spec.model, size)
        return _checked(text, evidence, backend.spec, size)

    async def first_available(self, size: Size, deadline: float, *, free: bool = False) -> tuple[Backend | None, str]:
        """The first backend for a size, `free` or not, that says that it is there, or why none is."""
        specs = [spec for spec in candidates(self._policy, size) if not (free and spec.paid)]
        reasons = [f"{spec.name}: may cost money, and answer.allow_paid is off" for spec in self._refused()]
        for spec in specs:
            backend = self._backend(spec)
            try:
                with anyio.CancelScope(
                    deadline=min(deadline, anyio.current_time() + self._policy.available_s)
                ) as scope:
                    await backend.available()
                if not scope.cancelled_caught:
                    return backend, ""
                reasons.insert(0, f"{spec.name}: did not say in time that it is there")
            except BackendError as fault:
                reasons.insert(0, f"{spec.name}: {without_key(str(fault), spec)}")
        return None, "; ".join(reasons)

    async def aclose(self) -> None:
        """Close the connections of every backend."""
        backends, self._backends = list(self._backends.values()), {}
        for backend in backends:
            await backend.aclose()

    def _why_off(self, evidence: Evidence, synthesize: bool) -> str | None:
        if not synthesize:
            return "the caller set synthesize to false"
        if not self._policy.backends:
            return "no backend is configured (settings, section answer)"
        return None if evidence.pieces else "there is nothing to write from"

    def _refused(self) -> Sequence[BackendSpec]:
        return [spec for spec in self._policy.backends if spec.paid and not self._policy.allow_paid]

    def _backend(self, spec: BackendSpec) -> Backend:
        if spec.name not in self._backends:
            self._backends[spec.name] = self._create(spec)
        return self._backends[spec.name]


async def completed(backend: Backend, prompt: Prompt, deadline: float) -> str:
    """What a backend writes in its time and the call's.

    Raises:
        BackendError: If it fails or takes longer.
    """
    started = anyio.current_time()
    with anyio.CancelScope(deadline=min(deadline, started + backend.spec.timeout_s)):
        try:
            return without_key(await backend.complete(prompt), backend.spec)
        except BackendError as fault:
            raise BackendError(redacted(without_key(str(fault), backend.spec))) from fault
    raise BackendError(f"did not answer within {anyio.current_time() - started:.1f} s")


def without_key(text: str, spec: BackendSpec | RerankSpec) -> str:
    """A text of a model without what it alone may know."""
    token = [spec.token.get_secret_value()] if spec.token is not None else []
    return Mask([*token, *url_secrets(spec.url)]).text(text)


def _by_merge(
    evidence: Evidence,
    backend: str,
    status: SynthesisStatus,
    reason: str,
    model: str | None = None,
    route: Size | None = None,
    dropped: int = 0,
) -> Written:
    synthesis = Synthesis(backend=backend, status=status, reason=reason, model=model, route=route)
    return Written(sentences=tuple(merged(evidence)), synthesis=synthesis, dropped=dropped)


def _checked(text: str, evidence: Evidence, spec: BackendSpec, size: Size) -> Written:
    """A model's text after grounding, with every conflict told; the merge if nothing of it is left."""
    from callosum_mcp.answer.grounding import grounded  # with word lists that a start need not load

    found = grounded(text, evidence)
    if not found.kept:
        reason = (
            f"none of its {found.dropped} sentences is borne out by a receipt"
            if found.dropped
            else "it found no answer"
        )
        return _by_merge(evidence, spec.name, "ungrounded", reason, spec.model, size, found.dropped)
    synthesis = Synthesis(backend=spec.name, status="ok", model=spec.model, route=size)
    return Written(sentences=_with_disputes(found.kept, evidence), synthesis=synthesis, dropped=found.dropped)


def _with_disputes(kept: tuple[Sentence, ...], evidence: Evidence) -> tuple[Sentence, ...]:
    """The sentences, and those conflicts that none of them tells."""
    untold = [
        disputed(dispute, evidence.query)
        for dispute in evidence.disputes[:_DISPUTED]
        if not any(_tells(one, dispute.winner.id, {loser.id for loser in dispute.losers}) for one in kept)
    ]
    return (*untold, *kept)


def _tells(told: Sentence, winner: str, losers: set[str]) -> bool:
    return winner in told.marks and not losers.isdisjoint(told.marks)
