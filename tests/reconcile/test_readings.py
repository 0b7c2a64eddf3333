"""Wordings that were read wrongly once: what each says now, through the conflicts it makes or does not make."""

from __future__ import annotations

import pytest

from reconcile.world import conflicts, file, live, memory


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        (
            "console port of the loom",
            "compose.yaml: loom: command: serve --console-port :9443",
            "(loom)-[CONSOLE_PORT]->(9001)",
        ),
        (
            "currency of the loom invoices",
            "Loom invoices: we bill them in francs, CHF.",
            "(Loom invoices)-[BILLED_IN]->(EUR)",
        ),
        ("is the loom up", "loom.service: failed (Result: exit-code)", "The loom is up and healthy after the restart."),
        ("helpdesk version", "(helpdesk)-[RUNS]->(Zammad 6.4.1)", "The helpdesk runs Zammad 6.2."),
        (
            "number of the loom card",
            "loom card number: 276098102447713",
            "The number of the loom card is 276098102447731.",
        ),
        ("maximum heap of the loom", "The loom's maximum heap is 6 GiB.", "loom: max heap = 4g"),
        ("rollout of wide_warp", "wide_warp rollout: percentage=50", "wide_warp rollout: 10 %"),
    ],
)
def test_what_contradicts_is_found(query: str, one: str, other: str) -> None:
    (found,) = conflicts(query, live(one), memory(other))

    assert (found.winner, found.losers) == ("live:1", ("memory:1",))


@pytest.mark.parametrize(
    ("query", "one", "other"),
    [
        (
            "object store of the loom",
            "Status: rejected.\nReplace MinIO by Ceph as the loom's object store.",
            "The object store of the loom is MinIO.",
        ),
        (
            "log level of the loom",
            "Log levels of the loom are debug, info, warning and error; set LOOM_LOG.",
            "(loom)-[LOG_LEVEL]->(warning)",
        ),
        ("is the loom on", "Loom rota: Y. Brink", "The loom is off."),
        (
            "who leads the dyers",
            "Ada Roth leads the dyers.",
            "Bo Lind stands in for Ada Roth as leader of the dyers, just this week.",
        ),
    ],
)
def test_what_only_looks_like_a_contradiction_is_not(query: str, one: str, other: str) -> None:
    assert not conflicts(query, file(one), memory(other))
