"""Files that take the place of others."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from haystack_integrations.crag.whole_file import write_or_refuse, write_whole


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_who_may_read_a_file_stays_as_it_is_when_it_is_written_anew(tmp_path: Path, mode: int) -> None:
    """Questions that only their owner might read were readable by all afterwards."""
    path = tmp_path / "cases.jsonl"
    path.write_text("old")
    path.chmod(mode)
    write_whole(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", mode)


def test_a_new_file_is_as_any_other_that_the_user_makes(tmp_path: Path) -> None:
    """As the shell's umask says."""
    (tmp_path / "other").touch()
    write_whole(tmp_path / "new", b"new")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_two_processes_of_one_id_do_not_share_the_file_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in two containers on one volume: one wrote into what the other was about to put in place, or removed it."""
    monkeypatch.setattr("os.getpid", lambda: 1)
    path, texts = tmp_path / "mine.json", [bytes([65 + number]) * 3_000_000 for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            list(pool.map(partial(write_whole, path), texts))
            assert path.read_bytes() in texts
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_may_have_as_long_a_name_as_the_disk_takes(tmp_path: Path) -> None:
    """85 letters of Japanese are 255 bytes; the file beside it, which becomes it, had a longer one."""
    path = tmp_path / ("\u65e5" * 85)
    write_or_refuse(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]
