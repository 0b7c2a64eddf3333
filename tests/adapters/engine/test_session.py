"""An engine on stdin and stdout: connected once, found dead and replaced, never left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from callosum_mcp.adapters.engine import children, line, process, session
from callosum_mcp.adapters.engine.reach import Reach
from callosum_mcp.adapters.engine.session import Session
from callosum_mcp.errors import StoreBadReply, StoreError, StoreFailed, StoreRefused, StoreTimeout

from .engines import WAIT_S, entries, exists, small

ASKED = {"query": "hermes"}


@asynccontextmanager
async def opened(reach: Reach, concurrency: int = 4) -> AsyncGenerator[Session]:
    made = Session(reach, concurrency)
    try:
        yield made
    finally:
        await made.aclose()


async def answer(made: Session, query: str = "hermes") -> str:
    result = await made.call("find", {"query": query})
    return " ".join(block.text for block in result.content if block.type == "text")


async def until(true: Callable[[], object]) -> None:
    with anyio.fail_after(WAIT_S):
        while not true():  # noqa: ASYNC110 -- what is waited for happens in other processes
            await anyio.sleep(0.01)


async def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    await until(lambda: not exists(pid))


def pids(log: Path) -> list[int]:
    return [entry["started"] for entry in entries(log) if "started" in entry]


def asked(log: Path, method: str) -> list[dict[str, Any]]:
    return [entry for entry in entries(log) if entry.get("method") == method]


def left_over() -> tuple[set[str], int, set[int]]:
    """What this process holds: open files, tasks, children."""
    files = {os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if _is_there(fd)}
    running = {int(p) for p in os.listdir("/proc") if p.isdigit() and _parent(int(p)) == os.getpid()}
    return {name for name in files if name.startswith(("pipe:", "socket:"))}, len(asyncio.all_tasks()), running


def _is_there(fd: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{fd}")


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


async def test_an_engine_is_started_at_its_first_question_and_kept(log: Path) -> None:
    async with opened(small("--log", str(log))) as made:
        assert entries(log) == []
        assert "a says hermes" in await answer(made)
        assert "b says atlas" in await answer(made, "atlas")
        advertised = await made.advertised()
    assert len(pids(log)) == 1 and made.connections == 1 and made.requests == 2
    assert (advertised.server, advertised.version, advertised.protocol) == ("small", "1.2", "2025-06-18")
    assert advertised.tools["find"].names == {"query", "limit"} and advertised.tools["list_places"].names is None


async def test_many_callers_share_one_connection_and_no_more_than_allowed_call_at_a_time(log: Path) -> None:
    async with opened(small("--log", str(log)), concurrency=2) as made:
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(answer, made, f"q{number}")
    assert len(pids(log)) == 1 and len(asked(log, "tools/call")) == 20


@pytest.mark.promise("3f", "P42")
async def test_a_hundred_reconnects_leave_no_process_no_file_and_no_task(log: Path) -> None:
    async with opened(small("--log", str(log), protocol="legacy")) as made:
        await answer(made)
    before = left_over()
    async with opened(small("--log", str(log), protocol="legacy")) as made:
        for number in range(100):
            assert f"a says {number}" in await answer(made, str(number))
            await kill(pids(log)[-1])
        assert made.connections == 100
    assert left_over() == before
    assert [pid for pid in pids(log) if exists(pid)] == []


async def test_a_closed_engine_leaves_nothing_and_is_not_started_again(log: Path) -> None:
    before = left_over()
    made = Session(small("--log", str(log)), 1)
    await answer(made)
    await made.aclose()
    made.warm()
    with pytest.raises(StoreRefused, match="closed"):
        await answer(made)
    assert left_over() == before and not exists(pids(log)[0])


async def test_closing_while_the_closer_is_cancelled_still_ends_the_process(log: Path) -> None:
    made = Session(small("--log", str(log)), 1)
    await answer(made)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await made.aclose()
    assert not exists(pids(log)[0])


async def test_closing_while_it_connects_ends_the_process(log: Path) -> None:
    made = Session(small("--hang-in-initialize", "--log", str(log)), 1)
    made.warm()
    await until(lambda: asked(log, "initialize"))
    with anyio.fail_after(WAIT_S):
        await made.aclose()
    assert not exists(pids(log)[0])


async def test_closing_during_a_call_ends_the_call_with_the_reason() -> None:
    made = Session(small(), 1)
    said: list[str] = []

    async def ask() -> None:
        try:
            await answer(made, "hang")
        except StoreError as fault:
            said.append(str(fault))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await until(lambda: made.requests)
        await made.advertised()
        await anyio.wait_all_tasks_blocked()
        await made.aclose()
    assert said == ["its connection was closed"]


@pytest.mark.promise("8c")
async def test_a_child_that_ignores_the_end_of_stdin_and_sigterm_is_killed_with_all_it_started(log: Path) -> None:
    made = Session(small("--ignore-eof", "--ignore-sigterm", "--grandchild", "--log", str(log)), 1)
    await answer(made)
    grandchild = next(entry["grandchild"] for entry in entries(log) if "grandchild" in entry)
    assert exists(grandchild)
    await made.aclose()
    await until(lambda: not exists(pids(log)[0]) and not exists(grandchild))


async def test_what_a_well_behaved_child_leaves_behind_is_ended_too(log: Path) -> None:
    made = Session(small("--grandchild", "--log", str(log)), 1)
    await answer(made)
    grandchild = next(entry["grandchild"] for entry in entries(log) if "grandchild" in entry)
    await made.aclose()
    await until(lambda: not exists(grandchild))


def test_the_end_of_the_event_loop_ends_the_child(log: Path) -> None:
    async def forget() -> None:
        await answer(Session(small("--ignore-eof", "--ignore-sigterm", "--log", str(log)), 1))

    anyio.run(forget)
    assert not exists(pids(log)[0])


async def test_leaving_at_once_tells_every_child_to_end(log: Path) -> None:
    async with opened(small("--log", str(log))) as made:
        await answer(made)
        children.end_all()
        await until(lambda: not exists(pids(log)[0]))


async def test_an_engine_killed_in_the_middle_of_a_call_fails_it_and_the_next_call_recovers(log: Path) -> None:
    async with opened(small("--log", str(log))) as made:
        await answer(made)
        async with anyio.create_task_group() as group:
            group.start_soon(_killed, log)
            with anyio.fail_after(WAIT_S), pytest.raises(StoreFailed, match=r"^its process was ended by SIGKILL$"):
                await answer(made, "hang")
        assert "a says hermes" in await answer(made)
    assert made.connections == 2


async def _killed(log: Path) -> None:
    await until(lambda: len(asked(log, "tools/call")) == 2)
    os.kill(pids(log)[-1], signal.SIGKILL)


async def test_an_engine_that_dies_of_a_question_is_not_asked_it_twice(log: Path) -> None:
    async with opened(small("--log", str(log))) as made:
        with pytest.raises(StoreFailed, match=r"^its process ended with code 3$"):
            await answer(made, "die")
        assert len(asked(log, "tools/call")) == 1
        assert "a says hermes" in await answer(made)


async def test_an_engine_that_died_while_idle_is_replaced_without_a_failure(log: Path) -> None:
    async with opened(small("--log", str(log))) as made:
        await answer(made)
        await kill(pids(log)[0])
        assert "a says hermes" in await answer(made)


async def test_a_child_that_keeps_dying_is_started_ever_more_rarely_and_a_call_meanwhile_is_told_when(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "FIRST_PAUSE_S", 50.0)
    reach = small("--exit", "7", "--stderr", "no such database: /nowhere", "--log", str(log), protocol="legacy")
    async with opened(reach) as made:
        with pytest.raises(
            StoreFailed, match=r"^its process ended with code 7 \(it said: no such database: /nowhere\)$"
        ):
            await answer(made)
        made.warm()
        with pytest.raises(StoreFailed, match=r"started again in (50\.0|49\.\d) s at the earliest$") as refused:
            await answer(made)
        assert refused.value.retry_after_s is not None and 40 < refused.value.retry_after_s <= 50
    assert len(pids(log)) == 1


async def test_the_pause_doubles_up_to_a_bound_and_an_answer_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(session, "LONGEST_PAUSE_S", 0.004)
    pauses: list[float] = []
    async with opened(small("--exit", "1", protocol="legacy")) as made:
        for _ in range(4):
            await until(lambda: not made._pause())  # pyright: ignore[reportPrivateUsage]
            with pytest.raises(StoreFailed):
                await answer(made)
            pauses.append(made._failures)  # pyright: ignore[reportPrivateUsage]
        assert pauses == [1, 2, 3, 4]
        await until(lambda: not made._pause())  # pyright: ignore[reportPrivateUsage]
        made._reach = small()  # pyright: ignore[reportPrivateUsage]
        await answer(made)
        made._line.stop()  # pyright: ignore[reportPrivateUsage, reportOptionalMemberAccess]
        await answer(made)


@pytest.mark.parametrize(
    ("reach", "said"),
    [
        (
            Reach(type="stdio", command=("no-such-program-of-ours", "x")),
            "its command 'no-such-program-of-ours' is not found",
        ),
        (Reach(type="stdio", command=("./nowhere",), cwd="/"), "its command './nowhere' is not found"),
        (Reach(type="stdio", command=("sh", "a\0b")), "its command 'sh' cannot be started: embedded null byte"),
        (
            Reach(type="stdio", command=("sh",), cwd="/no/such/folder"),
            "its command 'sh' cannot be started: No such file",
        ),
    ],
)
async def test_a_command_that_cannot_be_started_is_refused_with_the_reason(reach: Reach, said: str) -> None:
    async with opened(reach) as made:
        with pytest.raises(StoreRefused, match=f"^{said}"):
            await answer(made)


@pytest.mark.promise("P43")
async def test_a_noisy_child_works_and_is_reported(log: Path) -> None:
    async with opened(small("--noisy")) as made:
        assert "a says hermes" in await answer(made)
        assert made.noise() == "its stdout holds 4 lines that are not MCP, first 'INFO loading the model ...'"
    async with opened(small()) as made:
        assert made.noise() is None
        await answer(made)
        assert made.noise() is None


async def test_a_server_that_the_probe_kills_is_asked_again_without_and_not_probed_again(log: Path) -> None:
    async with opened(small("--die-on-probe", "--log", str(log))) as made:
        assert "a says hermes" in await answer(made)
        await kill(pids(log)[-1])
        assert "a says hermes" in await answer(made)
    assert len(pids(log)) == 3 and len(asked(log, "server/discover")) == 1


async def test_a_call_that_runs_out_of_time_leaves_the_connecting_going_on(log: Path) -> None:
    async with opened(small("--initialize-s", "0.3", "--log", str(log), protocol="legacy")) as made:
        with anyio.move_on_after(0.05) as scope:
            await answer(made)
        assert scope.cancelled_caught
        assert made.waiting() == "still connecting (cold start); that goes on, and a later call finds it warm"
        assert "a says hermes" in await answer(made)
        assert made.waiting() is None
    assert len(pids(log)) == 1


async def test_warming_connects_once_and_the_first_call_finds_it_warm(log: Path) -> None:
    async with opened(small("--log", str(log))) as made:
        made.warm()
        made.warm()
        await until(lambda: asked(log, "tools/list"))
        await answer(made)
        made.warm()
        await answer(made)
    assert len(pids(log)) == 1


async def test_an_engine_that_hangs_in_its_handshake_is_given_up_after_its_connect_timeout() -> None:
    reach = small("--hang-in-initialize", "--stderr", "waiting for a lock", protocol="legacy", connect_timeout_s=0.4)
    async with opened(reach) as made:
        with pytest.raises(
            StoreTimeout, match=r"not connected within 0.4 s \(it said: waiting for a lock\); see connect_tim"
        ):
            await answer(made)


@pytest.mark.promise("1d")
async def test_cancelling_a_call_cancels_it_upstream_and_the_connection_stays(log: Path) -> None:
    async with opened(small("--log", str(log))) as made:
        await answer(made)
        with anyio.move_on_after(0.05):
            await answer(made, "hang")
        await until(lambda: asked(log, "notifications/cancelled"))
        assert "a says hermes" in await answer(made)
    assert len(pids(log)) == 1


async def test_an_engine_that_answers_nothing_any_more_is_replaced(log: Path) -> None:
    async with opened(small("--log", str(log), connect_timeout_s=0.5)) as made:
        await answer(made)
        with anyio.move_on_after(0.05):
            await answer(made, "block")
        await until(lambda: not exists(pids(log)[0]))
        assert "a says hermes" in await answer(made)
    assert len(pids(log)) == 2


async def test_a_caller_that_gives_up_returns_at_once_even_if_the_child_reads_nothing_any_more() -> None:
    async with opened(small()) as made:
        await answer(made)
        with anyio.move_on_after(0.05):
            await answer(made, "block")
        with anyio.move_on_after(0.05):
            await made.call("find", {"query": "x" * 1_000_000})
        started = anyio.current_time()
        with anyio.move_on_after(0.05):
            await answer(made)
        assert anyio.current_time() - started < 1.0


@pytest.mark.promise("3d")
async def test_a_reply_of_five_megabytes_is_read_and_a_far_larger_one_refused() -> None:
    async with opened(small()) as made:
        assert len(await answer(made, "huge")) == 5_000_000
        with pytest.raises(StoreBadReply, match=r"^its reply is larger than 16 MiB and was not read$"):
            await answer(made, "far too large")
        assert "a says hermes" in await answer(made)


@pytest.mark.parametrize(
    ("query", "kind", "said"),
    [
        ("rpc error", StoreBadReply, r"^does not understand our call: limit: must be positive; "),
        ("off", StoreBadReply, "^its reply is not what MCP promises: content: Input should be a valid list"),
    ],
)
async def test_an_answer_off_the_protocol_is_a_failure_that_says_what(
    query: str, kind: type[StoreError], said: str
) -> None:
    async with opened(small()) as made:
        with pytest.raises(kind, match=said):
            await answer(made, query)


async def test_what_the_tool_says_of_itself_is_passed_on() -> None:
    async with opened(small()) as made:
        result = await made.call("find", {"query": "is error"})
    assert result.is_error


async def test_half_an_emoji_is_replaced_in_both_directions() -> None:
    async with opened(small()) as made:
        assert "says half" not in await answer(made, "half") and await answer(made, "half") == "cut ? emoji"
        assert "a says x?y" in await answer(made, "x\ud83dy")


async def test_a_child_sees_the_few_variables_every_program_needs_and_those_it_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CALLOSUM_SECRET_OF_ANOTHER", "s3cret")
    async with opened(small(env={"GIVEN": "value"}, cwd=str(tmp_path))) as made:
        seen, folder = await answer(made, "environment"), await answer(made, "folder")
    assert "s3cret" not in seen and '"GIVEN": "value"' in seen and '"PATH"' in seen
    assert str(tmp_path) in folder


@pytest.mark.promise("7a")
async def test_what_only_the_engine_may_know_is_hidden_in_its_last_words() -> None:
    reach = small("--exit", "1", "--stderr", "bad key s3cret-key", env={"KEY": "s3cret-key"}, protocol="legacy")
    async with opened(reach) as made:
        with pytest.raises(StoreFailed, match=r"\(it said: bad key \*\*\*\)"):
            await answer(made)


def test_a_session_needs_no_event_loop_to_be_made() -> None:
    assert Session(small(), 1).waiting() is None


def test_ending_a_child_takes_less_time_than_closing_a_store_may() -> None:
    assert process.EXIT_S + process.TERM_S + process.KILL_S < line.CLOSE_S < line.END_S <= 2.0


async def test_no_thread_is_left_that_would_hold_the_process_up() -> None:
    before = threading.active_count()
    async with opened(small()) as made:
        await answer(made)
    await until(lambda: threading.active_count() <= before + 1)


async def test_a_child_that_closes_its_output_without_ending_is_said_to_have_done_so(log: Path) -> None:
    async with opened(small("--log", str(log))) as made:
        await answer(made)
        with pytest.raises(StoreFailed, match=r"^its process closed its output$"):
            await answer(made, "close")
        assert "a says hermes" in await answer(made)


async def test_last_words_are_kept_in_bounds_and_without_an_end_of_line(tmp_path: Path) -> None:
    words = "\n".join(["x" * 5_000, "y" * 5_000, "the reason"])
    async with opened(small("--exit", "1", "--stderr", words, "--no-newline", protocol="legacy")) as made:
        with pytest.raises(StoreFailed) as failed:
            await answer(made)
    assert str(failed.value).endswith("the reason)") and len(str(failed.value)) < 300


def test_a_signal_without_a_name_is_told_by_its_number() -> None:
    assert process._signal_name(200) == "signal 200"  # pyright: ignore[reportPrivateUsage]


def test_a_group_that_is_gone_or_not_ours_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(group: int, number: int) -> None:
        raise PermissionError

    assert not children.signalled(2**22 + 1, 0)
    monkeypatch.setattr(os, "killpg", refused)
    assert children.signalled(1, 0)


async def test_a_replaced_server_whose_tool_takes_other_arguments_is_not_called_with_the_old_ones(
    log: Path, tmp_path: Path
) -> None:
    drift = tmp_path / "drift"
    async with opened(small("--log", str(log), "--drift", str(drift))) as made:
        seen = await made.advertised()
        await made.call("find", ASKED, seen)
        drift.touch()
        await kill(pids(log)[-1])
        with pytest.raises(StoreFailed, match=r"^the arguments of its tool find have just changed; ask again$"):
            await made.call("find", ASKED, seen)
        await made.call("find", ASKED, await made.advertised())
    assert len(asked(log, "tools/call")) == 2
