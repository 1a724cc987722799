"""What acts on the world, or tells of it: what stands before the function, a statement of it, and what shows it.

In the texts FILE and FOLDER are paths of the case's own, SEEN is a list.
"""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """A statement, and how to see what it has done."""

    statement: str
    shows: str = "SEEN"
    before: str = ""
    name: str = ""  # of what full_graph=True refuses; none: each run does it


HANDLER = """
class Handler(logging.Handler):
    def emit(self, record): SEEN.append((record.getMessage(), record.lineno, record.funcName))
LOG = logging.getLogger("acting_cases")
LOG.handlers, LOG.propagate = [Handler()], False
LOG.setLevel(10)
"""
OPENED, READ = "F = open(FILE, 'w')", "(F.flush(), open(FILE).read())[1]"
TEXT, TEXT_READ = "TEXT = io.StringIO()", "TEXT.getvalue()"
FILES = "sorted(os.listdir(FOLDER))"
CONTENT = "os.path.exists(FILE) and open(FILE).read()"
CALLBACK = "def callback(v):\n    SEEN.append(v if type(v) is int else 0)\n    return 'q'"
NEW = "FOLDER + '/' + str(SEEN.append(1) or len(SEEN))"  # a path that was not there
EXACT = {
    "logger": Case("LOG.info('a %s', 1)", before=HANDLER),
    "logger of a tensor": Case("LOG.info(f'{x.sum().item():.1f}')", before=HANDLER),
    "logger level": Case("LOG.log(20 if LOG.isEnabledFor(10) else 30, 'b')", before=HANDLER),
    "warning": Case("warnings.warn('w')", before="warnings.showwarning = lambda m, *a, **k: SEEN.append(str(m))"),
    "logger in a try": Case("try:\n    LOG.info('a')\n    x = x + 1\nexcept ValueError:\n    x = x - 1",
                            before=HANDLER),
    "write in a try": Case("try:\n    TEXT.write('a')\n    if x.sum() > 0:\n        raise KeyError\n"
                           "except KeyError:\n    x = x - 1", TEXT_READ, TEXT),
    "write": Case("F.write('a')", READ, OPENED),
    "result of write": Case("x = x + F.write('abc')", READ, OPENED),
    "print to a file": Case("print('a', x.sum().item(), file=F)", READ, OPENED),
    "print to stderr": Case("print('a', file=sys.stderr)", TEXT_READ, f"{TEXT}\nsys.stderr = TEXT"),
    "stdout": Case("sys.stdout.write('a')", TEXT_READ, f"{TEXT}\nsys.stdout = TEXT"),
    "text in memory": Case("TEXT.write(f'{x.sum().item()} ')", TEXT_READ, TEXT),
    "lines": Case("TEXT.writelines(['a', 'b'])", TEXT_READ, TEXT),
    "json": Case("json.dump({'a': x.sum().item()}, F)", READ, OPENED),
    "csv": Case("csv.writer(F).writerow(['a', 1])", READ, OPENED),
    "rows of dicts": Case("W.writerow({'a': 1})", READ, f"{OPENED}\nW = csv.DictWriter(F, ['a'])"),
    "pprint": Case("pprint.pprint([1], stream=TEXT)", TEXT_READ, TEXT),
    "environment": Case("os.environ['ACTING'] = str(SEEN.append(1) or len(SEEN))", "os.environ.get('ACTING')"),
    "environment read": Case("x = x + len(os.environ.get('ACTING_READ', ''))"),
    "folder": Case(f"os.makedirs({NEW})", FILES),
    "rename": Case(f"os.rename(FILE, {NEW})\nos.rename({NEW.replace('SEEN.append(1) or ', '')}, FILE)", FILES,
                   "open(FILE, 'w').close()"),
    "system": Case("os.system(f'echo a >> {FILE}')", CONTENT),
    "sleep": Case("time.sleep(0.0)"),
    "queue": Case("Q.put(x.sum().item())", "list(Q.queue)", "Q = queue.Queue()"),
    "simple queue": Case("Q.put('a')", "Q.qsize()", "Q = queue.SimpleQueue()"),
    "event": Case("E.set()", "E.is_set()", "E = threading.Event()"),
    "socket": Case("A.sendall(b'a')", "RECEIVED(B)", "A, B = socket.socketpair()\nB.setblocking(False)"),
    "map": Case("list(map(TEXT.write, ['a', 'b']))", TEXT_READ, TEXT),
    "map and append": Case("list(map(SEEN.append, [1, 2]))"),
    "filter": Case("list(filter(callback, [1, 2]))", before=CALLBACK),
    "sorted": Case("sorted([1, 2], key=callback)", before=CALLBACK),
    "reduce": Case("functools.reduce(lambda a, b: SEEN.append(a) or a + b, [1, 2, 3])"),
    "accumulate": Case("list(itertools.accumulate([1, 2], lambda a, b: SEEN.append(a) or a + b))"),
    "exit stack": Case("with contextlib.ExitStack() as stack:\n    stack.callback(callback, 1)", before=CALLBACK),
    "re": Case("re.sub('a', callback, 'aba')", before=CALLBACK),
    "compiled re": Case("R.sub(callback, 'aba')", before=f"{CALLBACK}\nR = re.compile('a')"),
    "json default": Case("json.dumps([{1}, {2}], default=callback)", before=CALLBACK),
    "json hook": Case("json.loads('[{}, {}]', object_hook=callback)", before=CALLBACK),
    "callback of others": Case("others.call(callback)", before=CALLBACK),
    "own text": Case("t = io.StringIO()\nprint('ab', file=t)\nx = x + len(t.getvalue())"),
    "own rows": Case("t = io.StringIO()\ncsv.writer(t).writerow([1])\nx = x + len(t.getvalue())"),
    "text of others": Case("x = x + len(pprint.pformat([1])) + len(json.dumps([1]))"),
    "numpy": Case(f"np.save({NEW}, np.zeros(2))", FILES),
    "paddle": Case(f"paddle.save({{'a': x}}, {NEW})", FILES),
}  # fmt: skip
REFUSED = {
    "open": Case("with open(FILE, 'a') as f:\n    f.write('a')", CONTENT, name="open"),
    "path": Case("Path(FILE).write_text('a' * len(SEEN))\nSEEN.append(1)", CONTENT, name="pathlib.Path.write_text"),
    "read": Case("x = x + float(open(FILE).read())\nNEXT(FILE)", CONTENT, "open(FILE, 'w').write('1')", "open"),
    "file tried": Case("try:\n    os.remove(FILE)\nexcept FileNotFoundError:\n    x = x + 1", name="os.remove"),
    "environment told": Case("os.environ['ACTING'] = 'q' + os.environ.get('ACTING', '')[:3]",
                             "os.environ.get('ACTING')", name="os.environ.get"),
    "environment updated": Case("os.environ.pop('ACTING', None)", "os.environ.get('ACTING')",
                                "os.environ['ACTING'] = '1'", "os.environ.pop"),
    "copy": Case("shutil.copy(FILE, FOLDER)", FILES, "open(FILE, 'w').close()", "shutil.copy"),
    "temporary file": Case("tempfile.mkstemp(dir=FOLDER)", "len(os.listdir(FOLDER))", name="tempfile.mkstemp"),
    "process": Case("subprocess.run(['sh', '-c', f'echo a >> {FILE}'])", CONTENT, name="subprocess.run"),
    "queue": Case("x = x + Q.get(timeout=5)", "list(Q.queue)",
                  "Q = queue.Queue()\nfor i in range(40): Q.put(i)", "queue.Queue.get"),
    "event told": Case("x = x + int(E.is_set())\nE.set()", "E.is_set()", "E = threading.Event()",
                       "threading.Event.is_set"),
    "thread": Case("t = threading.Thread(target=SEEN.append, args=(1,))\nt.start()\nt.join()",
                   name="threading.Thread.__init__"),
    "redirected": Case("with contextlib.redirect_stdout(TEXT):\n    print('a')", TEXT_READ, TEXT,
                       "contextlib._RedirectStream.__enter__"),
    "caught warning": Case("with warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n"
                           "    warnings.warn('w')\nx = x + len(w)", name="warnings.warn"),
    "time": Case("SEEN.append(time.perf_counter())", "len(set(SEEN))", name="time.perf_counter"),
    "date": Case("SEEN.append(datetime.datetime.now())", "len(SEEN)", name="datetime.datetime.now"),
    "uuid": Case("SEEN.append(uuid.uuid4())", "len(set(SEEN))", name="uuid.uuid4"),
    "data base": Case("DB.execute('insert into t values (1)')", "DB.execute('select count(*) from t').fetchall()",
                      "DB = sqlite3.connect(':memory:', isolation_level=None, check_same_thread=False)\n"
                      "DB.execute('create table t(a)')", "sqlite3.Connection.execute"),
    "handled exception": Case("try:\n    int('a')\nexcept ValueError:\n    LOG.error('a', exc_info=True)",
                              before=HANDLER, name="logging.Logger.error"),
    "not to be converted": Case("plain()", TEXT_READ,
                                f"{TEXT}\n@paddle.jit.not_to_static\ndef plain(): TEXT.write('a')",
                                "acting_case.plain"),
    "without a source": Case("plain(TEXT)", TEXT_READ, f"{TEXT}\nexec('def plain(t): t.write(1 * chr(97))')", "plain"),
    "callback of others acts": Case("others.call(lambda v: others.act(FILE))", CONTENT, name="others.act"),
    "others write": Case("others.act(FILE)", CONTENT, name="others.act"),
    "others make folders": Case("others.make(FOLDER)", FILES, name="others.make"),
    "others print": Case("others.say()", TEXT_READ, f"{TEXT}\nsys.stdout = TEXT", "others.say"),
}  # fmt: skip
HEAD = """
import contextlib, csv, datetime, functools, io, itertools, json, logging, os, pprint, queue, re, shutil, socket
import sqlite3, subprocess, sys, tempfile, threading, time, uuid, warnings
from pathlib import Path
import numpy as np
import others
import paddle_lite_py as paddle
SEEN = []
def RECEIVED(b):
    try:
        return b.recv(100)
    except BlockingIOError:
        return b''
def NEXT(path):
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(str(float(text) + 1))
"""
FUNCTIONS = """
class Model:
    def called(self, x):
        if x.sum() < 0:
            {deep}
        return x

MODEL = Model()

def f(x):
    {top}
    n = (x.sum() > 0).astype('int64') * 2
    if n > 0:
        {inner}
    else:
        x = x * 2
    i = n * 0
    while i < n:
        {inner}
        i += 1
    return MODEL.called(x) + 1

def show():
    return {shows}
"""
OTHERS = """
import os

def make(folder):
    os.makedirs(folder + f"/{len(os.listdir(folder))}")

def act(path):
    with open(path, 'a') as f:
        f.write('a')

def say():
    print('lib')

def call(f):
    f(1)
"""


def text_of(case: Case, file: str, folder: str) -> str:
    """A module with a function that has the statement in several places."""
    lines = case.statement.split("\n")
    places = {name: ("\n" + " " * n).join(lines) for name, n in (("top", 4), ("inner", 8), ("deep", 12))}
    functions = FUNCTIONS.format(shows=case.shows, **places)
    return f"{HEAD}FILE, FOLDER = {file!r}, {folder!r}\n{case.before}\n{functions}"
