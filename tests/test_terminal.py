"""Progress goes to stderr: lines in a log, a bar on a terminal, and never a word on stdout."""

import io

import pytest

from annotate import terminal


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def use(progress: terminal.Lines | terminal.Bar) -> None:
    progress.stop()
    progress.start("fetching", None)
    progress.advance(1)
    progress.start("receiving", 1234)
    progress.advance(1000)
    progress.stop()
    progress.advance(1)
    progress.stop()


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    progress = terminal.progress()
    assert isinstance(progress, terminal.Lines)
    use(progress)
    out, err = capsys.readouterr()
    assert (out, err) == ("", "fetching …\nreceiving (1,234) …\n")


def test_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shown = Terminal()
    monkeypatch.setattr("sys.stderr", shown)
    monkeypatch.setenv("TERM", "xterm")
    progress = terminal.progress()
    assert isinstance(progress, terminal.Bar)
    use(progress)
    assert "receiving" in shown.getvalue()
    assert capsys.readouterr().out == ""
