"""`crag demo`, cold: seconds and resident memory of the whole process. Target: 15 s and 500 MB on 2 cores.

Run it with `python benchmarks/demo.py`. Two fresh processes: the first finds no compiled bytecode anywhere, as after
`pip install --no-compile`; the second finds what the first left behind. The last line is JSON.
"""

import json
import os
import subprocess
import sys
import time
from tempfile import TemporaryDirectory
from typing import Any

COMMAND = [sys.executable, "-c", "from haystack_integrations.crag.cli import main; main()", "demo", "--json"]
SECONDS, MEGABYTES = 15.0, 500.0


def measure(bytecode: str) -> dict[str, Any]:
    """Run the demo once; gives wall seconds, peak resident megabytes and the verdicts."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
    started = time.perf_counter()
    with subprocess.Popen(COMMAND, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if process.returncode:
        sys.exit(f"crag demo ended with {process.returncode}")
    verdicts = [one["crag"]["verdict"] for one in json.loads(output)["questions"]]
    # Linux counts kilobytes, macOS bytes.
    megabytes = usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return {"seconds": round(seconds, 2), "megabytes": round(megabytes, 1), "verdicts": verdicts}


def main() -> None:
    """Measure, print, and fail when a target is missed."""
    with TemporaryDirectory() as bytecode:
        runs = {"no_bytecode": measure(bytecode), "bytecode": measure(bytecode)}
    for name, run in runs.items():
        print(f"{name:12} {run['seconds']:>6} s {run['megabytes']:>7} MB  {run['verdicts']}")
    print(json.dumps({"crag_demo": runs, "cores": os.cpu_count()}))
    if any(run["seconds"] > SECONDS or run["megabytes"] > MEGABYTES for run in runs.values()):
        sys.exit(f"too slow or too large: wanted at most {SECONDS} s and {MEGABYTES} MB")


if __name__ == "__main__":
    main()
