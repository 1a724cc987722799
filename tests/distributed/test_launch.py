"""The launcher's command line and environment, and trials of parallel settings."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import sys
import threading
import time

import pytest

from launching import ROOT, launched
from paddle_lite_py.distributed.launch import launch
from paddle_lite_py.distributed.launch.environment import INSIDE, VARIABLES, defaults
from paddle_lite_py.distributed.launch.job import UnreapedProcess
from paddle_lite_py.distributed.launch.tuning import Search, history, read
from paddle_lite_py.distributed.launch.tuning.settings import matches, settings

MODEL = {"num_layers": 16, "hidden_size": 64, "global_batch_size": 32, "vocab_size": 160, "num_attention_heads": 4}
AUTO = dict.fromkeys(("dp_degree", "mp_degree", "pp_degree", "micro_batch_size"), "auto")
MORE = dict.fromkeys(("sharding_degree", "sharding_stage", "vpp_degree", "use_recompute"), "auto")
EVERY = AUTO | MORE | {"recompute_granularity": "auto", "model_cfg": MODEL}
METRIC = {"metric_cfg": {"name": "ips", "OptimizationDirection": "Maximize"}}


def planned(tmp_path, **said):
    """The plan of a file that says this; dimensions that it does not name have the value 1."""
    file = tmp_path / "trials.json"
    plain = {"model_cfg": {"global_batch_size": 4}, "run_cmd": {}, "task_limit": 10**6, "run_best": False}
    file.write_text(json.dumps(METRIC | plain | said))
    return file


def plan_of(tmp_path, **said):
    return read(planned(tmp_path, **said), print)


def shell(tmp_path, text):
    """A program that takes no seconds to begin."""
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return str(program)


# -- settings ----------------------------------------------------------------------------------------------------------
def outcome(s):
    """Whether a setting would run, by a rough idea of its memory; some fail for other reasons."""
    kept = 3 if s["use_recompute"] is not True else 1 + ("full", "full_attn", "core_attn").index(
        s["recompute_granularity"] or "full"
    ) / 2  # fmt: skip
    memory = s["micro_batch_size"] * kept / s["mp_degree"] / s["pp_degree"]
    memory *= (1.2 if s["vpp_degree"] > 1 else 1) / (s["sharding_degree"] * s["sharding_stage"]) ** 0.5
    if (s["mp_degree"] * 7 + s["pp_degree"] * 5 + s["micro_batch_size"] * 3 + s["vpp_degree"]) % 11 == 0:
        return "fail"
    return "oom" if memory > 2 else "ran"


class Foretold(Search):
    """Trials whose outcome is `outcome`, without processes."""

    def _trial(self, setting, asked):
        ran, out = outcome(setting) == "ran", outcome(setting) == "oom"
        return history.Trial(setting, 1.0 if ran else None, out, "" if ran else "failed", 0.0)

    def _note(self, trial):
        self.trials[len(self.trials) + 1] = trial
        self.known.append(trial.tried)


CHOSEN = {
    "schedule_mode": "performance", "dp_degree": [1, 2], "mp_degree": [2, 4], "pp_degree": [1, 2, 4],
    "sharding_degree": "auto", "sharding_stage": [1, 2], "vpp_degree": [1, 2], "use_recompute": [True, False],
    "recompute_granularity": ["full", "core_attn"], "micro_batch_size": [1, 2, 4],
    "custom_search_dim": {"a_b": {"value": [3, 1], "prune": True}}, "model_cfg": MODEL,
}  # fmt: skip
BASELINE = AUTO | {"need_baseline": True, "use_recompute": "auto", "recompute_granularity": ["full"]}
BASELINE |= {"invalid_strategy": ["mp8"], "model_cfg": {k: v for k, v in MODEL.items() if k != "num_attention_heads"}}
SEQUENCES = AUTO | dict.fromkeys(("sharding_degree", "sharding_stage"), "auto") | {"use_sequence_parallel": True}
SEQUENCES |= {"model_cfg": {"num_layers": 12, "hidden_size": 36, "global_batch_size": 24, "seq_length": 20}}
PRIOR = EVERY | {"schedule_prior": ["mp2_pp*", "dp4", "recompute0_mbs4"]}


# Numbers of settings, and of those that are run if `outcome` says how they end, and a sum over their places and
# values, which says that the order is the same: all by PaddlePaddle 3.3.1.
@pytest.mark.parametrize(
    ("processes", "said", "fit", "run", "weighted"),
    [
        (2, AUTO | {"model_cfg": {"num_layers": 4, "hidden_size": 8, "global_batch_size": 4}}, 7, 5, 369),
        (8, EVERY, 544, 483, 5312162),
        (8, CHOSEN, 216, 48, 46828),
        (8, BASELINE, 68, 36, 25373),
        (6, SEQUENCES, 70, 54, 57601),
        (8, PRIOR, 544, 429, 4167962),
    ],
)
def test_settings_are_those_of_the_reference_in_its_order(tmp_path, processes, said, fit, run, weighted):
    search = Foretold(plan_of(tmp_path, **said), processes, [], None)
    search.run(lambda: "")
    tried = [t.setting for t in search.trials.values()]
    assert (len(search.every), len(tried), place_sum(tried)) == (fit, run, weighted)


def place_sum(tried):
    """One number for a list of settings in an order."""
    keys = ("mp_degree", "sharding_degree", "pp_degree", "sharding_stage", "micro_batch_size", "vpp_degree")
    return sum(place * sum(n * s[k] for n, k in enumerate(keys, 1)) for place, s in enumerate(tried, 1))


@pytest.mark.parametrize(
    ("word", "expected"),
    [("mp4", True), ("mp4_pp*", False), ("mp*_recompute1", True), ("stage*", False), ("mbs*_granularity1", True)],
)
def test_words_for_settings(word, expected):
    setting = {"mp_degree": 4, "pp_degree": 1, "sharding_degree": 1, "sharding_stage": 1, "micro_batch_size": 2}
    setting |= {"use_recompute": True, "recompute_granularity": "full_attn"}
    assert matches(setting, word) is expected


def test_settings_from_a_table(tmp_path):
    dimensions = "dp_degree,mp_degree,pp_degree,vpp_degree,micro_batch_size,sharding_degree,sharding_stage"
    table = tmp_path / "own.csv"
    table.write_text(
        f"{dimensions},use_recompute,recompute_granularity\n2,1,1,1,1,1,1,true,full\n1,2,1,1,4,1,1,false,\n"
    )
    plan = plan_of(tmp_path, search_algo={"name": "customize"}, configs_csv=str(table))
    found = settings(plan, 2)
    assert [(s["mp_degree"], s["use_recompute"], s["recompute_granularity"]) for s in found] == [
        (1, True, "full"), (2, False, None)
    ]  # fmt: skip
    table.write_text(f"{dimensions}\n")
    with pytest.raises(ValueError, match=r"own.csv has no settings"):
        settings(plan, 2)
    table.write_text(f"{dimensions}\n2,1,1,x,1,1,1\n")
    with pytest.raises(ValueError, match=r"own.csv:2: .*'x'; expected whole numbers for mp_degree"):
        settings(plan, 2)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"model_cfg": {}}, "model_cfg.global_batch_size is not there; expected a number"),
        ({"model_cfg": {"global_batch_size": "auto"}}, "model_cfg.global_batch_size is 'auto'; expected a number"),
        ({"model_cfg": {"global_batch_size": 4, "num_layers": "12"}}, "model_cfg.num_layers is '12'; expected a whole"),
        ({"metric_cfg": {"name": "ips"}}, 'metric_cfg.OptimizationDirection is not there; expected "Maximize" or'),
        ({"search_algo": {"name": "dp_estimation"}}, "search_algo.name is 'dp_estimation'; expected \"grid\" or"),
        ({"run_cmd": ["--mp"]}, "run_cmd is ['--mp']; expected a table"),
        ({"run_cmd": {"mp_degre": ["--mp", ""]}}, "run_cmd.mp_degre is no dimension; expected"),
        ({"run_cmd": {"mp_degree": "--mp"}}, 'run_cmd.mp_degree is \'--mp\'; expected ["--flag", ""], '),
        ({"run_cmd": {"mp_degree": ["no.json", "mp"]}}, "run_cmd names no.json, which cannot be read"),
        ({"dp_degree": "all"}, "dp_degree is 'all'; expected \"auto\", a number"),
        ({"use_recompute": 3}, 'use_recompute is 3; expected "auto", true'),
        ({"recompute_granularity": "half"}, 'recompute_granularity is \'half\'; expected "auto", "full"'),
        ({"custom_search_dim": {"a": [1]}}, 'custom_search_dim.a is [1]; expected {"value"'),
        ({"invalid_strategy": ["mp"]}, "'mp' is no strategy; expected dp, mp"),
        ({"max_time_per_task": 0}, "max_time_per_task is 0; expected a number above 0"),
        ({"refined_recompute": ["a"]}, "refined_recompute cannot be searched"),
        (
            {"dp_degree": 1, "mp_degree": 2, "model_cfg": {"global_batch_size": 4, "hidden_size": 9}},
            "no setting fits 2 processes",
        ),
    ],
)
def test_files_that_are_no_plan(tmp_path, capsys, said, message):
    file = planned(tmp_path, **({"dp_degree": "auto"} | said))
    with pytest.raises(SystemExit) as caught:
        launch(["--nproc_per_node", "2", "--auto_tuner_json", str(file), "train.py"])
    assert caught.value.code == 2 and message in capsys.readouterr().err


def test_keys_of_a_file_without_effect_are_named(tmp_path):
    said = []
    read(planned(tmp_path, mp_degre="auto", buffer=2), said.append)
    assert [s.partition(": ")[2] for s in said] == [
        "mp_degre is unknown, and has no effect; did you mean mp_degree?",
        "buffer has no effect: memory is not measured",
    ]


# -- what trials gave --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("ips: 3\nloss 2 ips:4.5", 4.5),  # of a few the last
        ("7 ips\nips = 2e-3", 0.002),
        ("7 ips 3 s", 7.0),
        ("\n".join(f"ips: {n}" for n in range(12)), 10.0),  # of more those after the first nine
        ("\n".join(f"ips: {n}" for n in range(30)), 24.5),  # of many the last ten
        ("loss: 3", None),
    ],
)
def test_the_metric_in_a_log(log, expected):
    assert history.recent_mean(history.values(log, "ips")) == expected


@pytest.mark.parametrize(
    ("log", "code", "late", "metric", "out", "error"),
    [
        ("ips: 3", 0, False, 3.0, False, ""),
        ("ips: 3", 143, True, 3.0, False, ""),  # what it printed until then counts
        ("", 143, True, None, False, "no ips in workerlog.0 within 2 s"),
        ("ips: 3\nValueError: no rows\nbye", 1, False, None, False, "ValueError: no rows"),
        ("ips: 3", 7, False, None, False, "exit code 7"),
        ("RESOURCE_EXHAUSTED: 8 GiB", 1, False, None, True, "Out of memory"),
        ("a warning: out of memory, taking less\nips: 3", 0, False, 3.0, False, ""),
    ],
)
def test_how_a_trial_is_judged(tmp_path, log, code, late, metric, out, error):
    plan = plan_of(tmp_path)
    (tmp_path / "workerlog.0").write_text(log)
    trial = history.judge(plan, {}, tmp_path, code, late, 2.0)
    assert (trial.metric, trial.out, trial.error) == (metric, out, error)


# -- trials by processes -----------------------------------------------------------------------------------------------
DEGREES = dict.fromkeys(("dp_degree", "mp_degree", "pp_degree"), "auto")
JUDGING = """
echo "$PADDLE_JOB_ID $PADDLE_TRAINER_ID: $*" >> calls
case "$*" in
  *"--mp 2"*) echo "Out of memory" ; exit 3 ;;
  *"PP=2"*) exec sleep 600 ;;
esac
echo "ips: 12.5"
"""


def tuned(file, program, *arguments, code=0):
    with pytest.raises(SystemExit) as caught:
        launch(["--nproc_per_node", "2", "--auto_tuner_json", str(file), program, *arguments])
    assert caught.value.code == code


def test_trials_and_the_run_of_the_best(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    told = {"dp_degree": ["--dp", ""], "mp_degree": ["--mp", ""], "pp_degree": ["-o", "PP"]}
    told |= {"search_stage": {"steps": ["--steps", "10"]}, "run_best_stage": {"steps": ["--steps", "99"]}}
    file = planned(tmp_path, run_cmd=told, run_best=True, max_time_per_task=0.5, warmup_time=60, **DEGREES)
    program = shell(tmp_path, JUDGING)
    tuned(file, program, "--lr", "1")
    rest = "Sharding1_Stage1_MBS1_Recompute_None_Granularity_None_AccStep"
    assert (tmp_path / f"Job3_GBS4_DP2_MP1_PP1_VPP1_{rest}2" / "workerlog.1").exists()
    with (tmp_path / "trials_history.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    assert list(rows[0]) == [
        "job_id", "mp_degree", "sharding_degree", "pp_degree", "dp_degree", "sharding_stage", "micro_batch_size",
        "vpp_degree", "use_recompute", "recompute_granularity", "acc_steps", "global_batch_size", "exec_time", "ips",
        "max_mem_usage", "error_info",
    ]  # fmt: skip
    found = [(r["job_id"], r["ips"], r["max_mem_usage"], r["error_info"]) for r in rows]
    assert found[0] == ("3", "12.5", "", "")
    assert sorted(found[1:]) == [("1", "", "OOM", "Out of memory"), ("2", "", "", "no ips in workerlog.0 within 1 s")]
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls[-1].partition(": ")[2] == "--lr 1 --mp 1 -o PP=1 --dp 2 --steps 99"
    assert {c.split()[0] for c in calls} == {"auto_tuner_1", "auto_tuner_2", "auto_tuner_3", "best_cfg"}
    assert "the best is GBS4_DP2_MP1_PP1" in (tmp_path / "trials_auto_tuner.log").read_text()

    tuned(file, program, "--lr", "1")  # all is known
    again = (tmp_path / "calls").read_text().splitlines()[len(calls) :]
    assert {c.split()[0] for c in again} == {"best_cfg"} and (tmp_path / "trials_history_copy.csv").exists()
    assert capsys.readouterr().err.count("as in ") == 3


def test_trials_none_of_which_gives_the_metric(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    tuned(planned(tmp_path, dp_degree="auto", task_limit=1), shell(tmp_path, "echo done"), code=1)
    assert "no setting has given ips; see error_info in" in capsys.readouterr().err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_search_that_is_asked_to_end(tmp_path, monkeypatch, number, code):
    monkeypatch.chdir(tmp_path)

    def ask():
        while not (tmp_path / "begun").exists():
            time.sleep(0.02)
        os.kill(os.getpid(), number)

    waiting = threading.Thread(target=ask, daemon=True)
    waiting.start()
    tuned(planned(tmp_path, dp_degree="auto"), shell(tmp_path, "touch begun; exec sleep 600"), code=code)
    waiting.join(60)
    assert not (tmp_path / "trials_history.csv").exists()


@pytest.mark.parametrize("kind", ["json", "yaml"])
def test_a_program_that_reads_its_setting_from_a_file(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"own.{kind}").write_text('{"model": {"mp": 7, "name": "a"}, "split": "x"}')
    told = {"mp_degree": [f"own.{kind}", "model.mp"], "sequence_parallel": [f"own.{kind}", "split", "part"]}
    file = planned(tmp_path, run_cmd=told, run_best=True, mp_degree=[2], dp_degree="auto")
    tuned(file, shell(tmp_path, f"cp own.{kind} seen.$PADDLE_JOB_ID.$PADDLE_TRAINER_ID; echo ips: 1"))
    text = (tmp_path / "seen.best_cfg.0").read_text()
    assert text == (tmp_path / "seen.auto_tuner_1.1").read_text()
    data = json.loads(text) if kind == "json" else pytest.importorskip("yaml").safe_load(text)
    assert data == {"model": {"mp": 2, "name": "a"}, "split": "part1"}
    assert len(list(tmp_path.glob(f"own_Job1_*.{kind}"))) == 1


# -- command lines and the environment ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--nproc_per_nod2", "2"], "--nproc_per_nod2 is no option of the launcher; did you mean --nproc_per_node?"),
        (["--run_mode", "ps-heter"], "--run_mode is 'ps-heter': workers of a job with servers all do the same"),
        (["--run_mode", "rcp"], "--run_mode is 'rcp': take collective or ps"),
        (["--run_mode", "collective", "--workers", "h:1"], "--run_mode is collective, but servers or trainers"),
        (["--auto_tuner_json", "plan.yaml"], "--auto_tuner_json is 'plan.yaml'; expected a file whose name ends in"),
        (["--auto_tuner_json", "no.json"], "--auto_tuner_json: no.json cannot be read"),
        (["--auto_tuner_json", "a.json", "--server_num", "1"], "trials run on one node without servers"),
    ],
)
def test_command_lines_that_make_no_sense(capsys, words, message):
    with pytest.raises(SystemExit) as caught:
        launch([*words, "train.py"])
    assert caught.value.code == 2 and message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"PADDLE_NNODES": "2:4", "PADDLE_MASTER": "h:1"}, {"nnodes": "2:4", "master": "h:1"}),
        ({"PADDLE_NNODES": "3", "PADDLE_ELASTIC_NP": "4"}, {"nnodes": "3"}),
        ({"PADDLE_ELASTIC_NP": "4", "PADDLE_TRAINER_ID": "1"}, {"nnodes": "4", "rank": 1}),
        ({"PADDLE_LOG_DIR": "", "PADDLE_MAX_RESTART": "5"}, {"max_restart": 5}),
        ({"PADDLE_NNODES": "2", INSIDE: "1"}, {}),
    ],
)
def test_variables_that_stand_for_options(environment, expected):
    assert defaults(environment) == expected


def test_the_command_line_counts_before_the_environment(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PADDLE_LOG_DIR", "theirs")
    monkeypatch.setenv("PADDLE_NPROC_PER_NODE", "2")
    program = shell(tmp_path, "echo rank $PADDLE_TRAINER_ID")
    with pytest.raises(SystemExit) as caught:
        launch(["--log_dir", "ours", "--gloo_port", "6767", program])
    assert caught.value.code == 0 and not (tmp_path / "theirs").exists()
    assert (tmp_path / "ours" / "workerlog.1").read_text() == "rank 1\n"
    assert "launch: --gloo_port has no effect: XLA carries all exchanges" in capsys.readouterr().err
    monkeypatch.setenv("PADDLE_RANK", "first")
    with pytest.raises(SystemExit):
        launch([program])
    assert "PADDLE_RANK is 'first'; expected a number, as --rank takes it" in capsys.readouterr().err


def test_a_launcher_in_a_process_of_a_job_does_as_it_is_told(tmp_path, monkeypatch):
    """The outer job has two processes and a log folder of its own by the environment; the inner one has one."""
    monkeypatch.setenv("PADDLE_NPROC_PER_NODE", "2")
    inner = tmp_path / "inner"
    inner.write_text("#!/bin/sh\necho one of $PADDLE_TRAINERS_NUM\n")
    inner.chmod(0o755)
    command = f"{sys.executable} -m paddle_lite_py.distributed.launch --log_dir $PADDLE_TRAINER_ID {inner}"
    said = launched(tmp_path, None, shell(tmp_path, command))
    assert "one of 1" in said and {p.name for p in tmp_path.glob("[01]/*")} == {"workerlog.0"}


def test_the_page_has_each_variable():
    """Each stands for one option alone."""
    names = [name for _, listed in VARIABLES.values() for name in listed.split()]
    rows = re.findall(r"^\| `--(\w+)` \| (.*) \|$", (ROOT / "docs" / "launch.md").read_text(), re.MULTILINE)
    assert len(names) == len(set(names))
    assert {o: re.findall("`(.*?)`", said) for o, said in rows} == {o: n.split() for o, (_, n) in VARIABLES.items()}


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="processes are reaped by poll() here")
def test_the_id_of_a_process_that_has_ended_stays_its_own(tmp_path):
    for program, code in (("", 0), ("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", -9)):
        process = UnreapedProcess([sys.executable, "-S", "-c", program], start_new_session=True)
        end = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        assert process.poll() == code
        os.killpg(process.pid, 0)  # it is there, so no other process has the id
        assert process.wait() == process.poll() == code
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
