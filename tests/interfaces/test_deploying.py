"""The files in deploy and the commands of docs/deploying.md: options exist, nginx reads its file, backups work."""

import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import manylabel
from manylabel.cli.run import run
from manylabel.server.jobs.store import JobStore
from reviewed import make_corpus
from served import InProcess, in_process

DEPLOY = Path(__file__).parents[2] / "deploy"
PAGE = (DEPLOY.parent / "docs" / "deploying.md").read_text(encoding="utf-8")
SCRIPTS = dict(re.findall(r'^```sh title="(.*?)"\n(.*?)^```', PAGE, re.DOTALL | re.MULTILINE))
OPTIONAL = "deploy/constraints*.txt"
"""What the image copies where it is there."""
BY_ROOT = re.compile(r"^(systemctl|chown|curl) .*\n", re.MULTILINE)


def options_of(command: list[str]) -> set[str]:
    """The long options of a command line."""
    return {word for word in command if word.startswith("--")}


def commands() -> list[list[str]]:
    unit = re.findall(r"^ExecStart=(.*)$", (DEPLOY / "manylabel.service").read_text(encoding="utf-8"), re.MULTILINE)
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    pieces = [re.findall(rf"^{word} \[(.*)\]$", image, re.MULTILINE)[-1] for word in ("ENTRYPOINT", "CMD")]
    return [*map(shlex.split, unit), [word.strip(' "') for piece in pieces for word in piece.split(",")]]


@pytest.mark.parametrize("command", commands())
def test_the_commands_exist(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command[0].endswith("manylabel")
    assert command[1] == "serve"
    assert run(["serve", "--help"]) == 0
    assert options_of(command) <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out))


def test_the_source_archive_has_what_the_page_copies() -> None:
    packed = re.findall(r"^graft (.*)$", (DEPLOY.parent / "MANIFEST.in").read_text(encoding="utf-8"), re.MULTILINE)
    copied = re.findall(r"^    cp (\S+) /etc", PAGE, re.MULTILINE)
    assert copied
    for name in copied:
        assert (DEPLOY.parent / name).is_file(), name
        assert any(Path(folder) in Path(name).parents for folder in packed), name


def test_the_image_runs_without_rights_and_copies_what_exists() -> None:
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert re.findall(r"^USER (.*)$", image, re.MULTILINE) == ["manylabel"]
    assert image.count("FROM ") == 2
    for copied in re.findall(r"^COPY (.*) \S+$", image, re.MULTILINE):
        for name in set(copied.split()) - {OPTIONAL}:
            assert (DEPLOY.parent / name).exists(), name


def test_pinned_versions_are_installed(tmp_path: Path) -> None:
    image = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert OPTIONAL in image
    assert "--constraint constraints.txt" in image
    assert image.count("FROM ${PYTHON}") == image.count("FROM ") == 2
    assert "!deploy/constraints.txt" in (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    assert "--constraint deploy/constraints.txt" in SCRIPTS["upgrade.sh"]
    (tmp_path / "deploy").mkdir()
    freeze = SCRIPTS["freeze.sh"].replace("/opt/manylabel/bin/pip", f"{shlex.quote(sys.executable)} -m pip")
    subprocess.run(["sh", "-c", freeze], cwd=tmp_path, check=True, capture_output=True)
    pinned = (tmp_path / "deploy" / "constraints.txt").read_text(encoding="utf-8")
    assert re.search(r"^numpy==\d", pinned, re.MULTILINE)
    assert "manylabel" not in pinned


def test_a_server_open_to_others_has_a_token() -> None:
    is_open = [command for command in commands() if "--host" in command]
    assert is_open
    assert all("--token" in command for command in is_open)


def test_all_events_of_the_log_are_documented() -> None:
    page = (DEPLOY.parent / "docs" / "guides" / "monitoring.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \| (?:info|error) \|", page, re.MULTILINE)
    sources = "".join(path.read_text(encoding="utf-8") for path in (Path(manylabel.__file__).parent).rglob("*.py"))
    written = re.findall(r'(?:\blog|\bself|Log\(.*\))\.(?:write|error)\(\s*"(\w+)"', sources)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(written)


# ---- nginx -----------------------------------------------------------------------------------------------------------


def test_the_page_shows_the_file_for_nginx() -> None:
    [shown] = re.findall(r"^```nginx\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert shown == (DEPLOY / "nginx.conf").read_text(encoding="utf-8")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def test_nginx_reads_its_file(tmp_path: Path) -> None:
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if nginx is None or shutil.which("openssl") is None:
        pytest.skip("nginx or openssl is not installed")
    made = ["-keyout", str(tmp_path / "privkey.pem"), "-out", str(tmp_path / "fullchain.pem")]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=a", *made],
        check=True,
        capture_output=True,
    )
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8").replace("/etc/ssl/labels.example.org", str(tmp_path))
    text = re.sub(r"^ *listen \[::\].*\n", "", text, flags=re.MULTILINE)
    for port in ("443", "80"):
        text = text.replace(f"listen {port}", f"listen 127.0.0.1:{free_port()}")
    (tmp_path / "manylabel.conf").write_text(text, encoding="utf-8")
    whole = tmp_path / "nginx.conf"
    whole.write_text(f"pid {tmp_path}/pid; events {{}} http {{ include {tmp_path}/manylabel.conf; }}", encoding="utf-8")
    tried = subprocess.run(
        [nginx, "-t", "-c", str(whole), "-g", f"error_log {tmp_path}/error.log;"], capture_output=True, text=True
    )
    assert tried.returncode == 0, tried.stderr
    assert "warn" not in tried.stderr


# ---- backups ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with a corpus under review, a model and a job."""
    if shutil.which("sqlite3") is None:
        pytest.skip("sqlite3 is not installed")
    folder = tmp_path / "data"
    store = JobStore(folder)
    store.prepare()
    make_corpus(folder)
    (folder / "models" / "letters.manylabel").write_bytes(b"a model")
    store.add("audit", {"corpus": "letters"}, 1)
    return folder


def try_script(name: str, data: Path, *, backup: str = "", pip: str = "true") -> subprocess.CompletedProcess[str]:
    """Run a script of the page with other paths, without what needs root or systemd; it prints when these are told."""
    script = SCRIPTS[name].replace("/opt/manylabel/bin/pip", pip)
    script = BY_ROOT.sub("", re.sub(r"^systemctl (\w+) manylabel$", r"echo \1", script, flags=re.MULTILINE))
    script = script.replace("/var/lib/manylabel", str(data)).replace("/var/backups", str(data.parent))
    script = script.replace("2026-11-30", backup)
    (data.parent / "deploy").mkdir(exist_ok=True)
    return subprocess.run(["sh", "-c", script], cwd=data.parent, capture_output=True, text=True, timeout=30)


def run_script(name: str, data: Path, *, backup: str) -> str:
    """Run a script of the page that succeeds; return what it prints."""
    done = try_script(name, data, backup=backup)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def files_in(folder: Path) -> dict[Path, bytes]:
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def reviewed(server: InProcess) -> int:
    return int(server.ask("GET", "/v1/corpora/letters").json()["states"]["reviewed"])


def review(server: InProcess, document: int) -> None:
    decision = {"document": document, "revision": 1, "state": "reviewed"}
    answer = server.ask("POST", "/v1/corpora/letters/decisions", {"by": "Ana", "decisions": [decision]})
    assert answer.status == 200, answer.json()


def test_a_backup_of_a_running_server_is_restored_as_the_page_describes(data: Path) -> None:
    server = in_process({}, data=str(data))
    review(server, 1)
    today = time.strftime("%Y-%m-%d")
    assert run_script("backup.sh", data, backup=today).split() == ["ok", "ok"]
    review(server, 2)
    run_script("restore-corpus.sh", data, backup=today)
    assert reviewed(server) == 1
    review(server, 2)
    server.ask("POST", f"/v1/jobs/{server.ask('GET', '/v1/jobs').json()['jobs'][0]['id']}/cancel")
    assert server.ask("DELETE", "/v1/corpora/letters").status == 200
    run_script("restore-deleted-corpus.sh", data, backup=today)
    assert reviewed(server) == 1
    (data / "models" / "letters.manylabel").unlink()
    run_script("restore.sh", data, backup=today)
    assert (data / "models" / "letters.manylabel").read_bytes() == b"a model"
    assert server.ask("GET", "/v1/jobs").json()["jobs"][0]["state"] == "queued"
    assert reviewed(server) == 1


def test_a_backup_of_a_stopped_server_is_restored_as_the_page_describes(data: Path) -> None:
    server = in_process({}, data=str(data))
    review(server, 1)
    run_script("backup-stopped.sh", data, backup="")
    review(server, 2)
    run_script("restore.sh", data, backup=time.strftime("%Y-%m-%d"))
    assert reviewed(server) == 1


def test_an_upgrade_backs_up_once_a_day_and_starts_nothing_that_was_not_installed(data: Path) -> None:
    kept, backup = files_in(data), data.parent / f"manylabel-{time.strftime('%Y-%m-%d')}"
    failed = try_script("upgrade.sh", data, pip="false")
    assert (failed.returncode, failed.stdout.split()) == (1, ["stop"])
    assert files_in(backup) == kept
    for script in ("upgrade.sh", "backup-stopped.sh"):
        refused = try_script(script, data)
        assert (refused.returncode, refused.stdout, files_in(backup)) == (1, "", kept)
        assert "File exists" in refused.stderr
    backup.rename(data.parent / "manylabel-first")
    assert try_script("upgrade.sh", data).stdout.split() == ["stop", "start"]


@pytest.mark.parametrize("script", [name for name in SCRIPTS if name.startswith("restore")])
def test_nothing_is_changed_where_there_is_no_backup(data: Path, script: str) -> None:
    kept = files_in(data)
    refused = try_script(script, data, backup="none")
    assert refused.returncode == 1
    assert "no" in refused.stderr.lower()
    assert refused.stdout == ""
    assert files_in(data) == kept


def test_what_a_restoration_kept_aside_is_not_lost_by_another_one(data: Path) -> None:
    run_script("backup-stopped.sh", data, backup="")
    today = time.strftime("%Y-%m-%d")
    run_script("restore.sh", data, backup=today)
    refused = try_script("restore.sh", data, backup=today)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "Remove or rename it" in refused.stderr
