"""What leaves the machine in a bug report says nothing about whose machine it was."""

from __future__ import annotations

import json

import pytest
from inductor_debug.engine.bug_report.redaction import PrivateWords, Redactor

ALICE = PrivateWords(
    homes=("/home/alice",),
    users=("alice", "root"),
    hosts=("workhorse",),
    environment={"HF_TOKEN": "correct-horse", "DEBUG_KEY": "1", "SSH_AUTH_SOCK": "/tmp/agent.1", "PATH": "/usr/bin"},
)


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ('File "/home/alice/work/model.py", line 3', 'File "~/work/model.py", line 3'),
        ("/home/alice2/x and /home/alice-old", "/home/alice2/x and /home/<user>-old"),
        ("alice@workhorse:~$", "<user>@<host>:~$"),
        ("malice and alices", "malice and alices"),
        ("Authorization: correct-horse", "Authorization: <HF_TOKEN>"),
        ("KEY 1 of 1, /usr/bin, /tmp/agent.1", "KEY 1 of 1, /usr/bin, /tmp/agent.1"),
        ("hf_abcdefghijklmnopqrst", "<token>"),
        ("https://bob:hunter2@example.org/x", "https://<login>@example.org/x"),
        ("AKIAABCDEFGHIJKLMNOP", "<key>"),
        ("chroot and root stay", "chroot and root stay"),
        ("/data/alice_models/best.pt", "/data/<user>_models/best.pt"),
        ("torch.alice(x), alice(x), x.alice", "torch.alice(x), alice(x), x.alice"),
        ("# ask bob.builder+x@mail.example.org.", "# ask <email>."),
        ("scores = q@k.mT + q@w.t() + x@self.to(1)", "scores = q@k.mT + q@w.t() + x@self.to(1)"),
        ("", ""),
    ],
)
def test_a_text_is_redacted(text: str, redacted: str) -> None:
    assert Redactor(ALICE)(text) == redacted


def test_json_stays_json() -> None:
    windows = PrivateWords(homes=("C:\\Users\\carol",), users=("carol",))
    text = json.dumps({"file": "C:\\Users\\carol\\model.py"})
    assert json.loads(Redactor(windows)(text)) == {"file": "~\\model.py"}


def test_a_private_key_goes_whole() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nabc\ndef\n-----END RSA PRIVATE KEY-----"
    assert Redactor(PrivateWords())(f"before {key} after") == "before <key> after"


def test_it_says_what_it_took_out() -> None:
    redactor = Redactor(ALICE)
    redactor("/home/alice /home/alice correct-horse")
    assert redactor.counts == {"home folder": 2, "secret": 1}


def test_only_variables_that_matter_and_none_that_tell() -> None:
    environment = {"TORCH_LOGS": "/home/alice/log", "TORCH_AUTH": "x", "TORCHINDUCTOR_CACHE_DIR": "/c", "SHELL": "zsh"}
    assert Redactor(ALICE).environment(environment, ("TORCH",)) == {
        "TORCHINDUCTOR_CACHE_DIR": "/c",
        "TORCH_AUTH": "<redacted>",
        "TORCH_LOGS": "~/log",
    }


def test_this_machine_is_known() -> None:
    here = PrivateWords.here()
    assert here.homes
    assert "PATH" in here.environment
