"""`DaskEngine`: tasks on the workers of a Dask cluster."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from concurrent.futures import CancelledError
from typing import Any, Self

from manylabel.exceptions import DataError, MissingExtraError, ParameterError
from manylabel.progress import stage
from manylabel.scale.engine import Engine, Task, answer_task, check_answer
from manylabel.wording import setting_name


class DaskEngine(Engine):
    """Runs tasks on the workers of a `dask.distributed.Client`.

    Workers and this process share the files of the corpus and of the results, at the same paths, and manylabel is
    installed on all of them. Nothing is scattered: workers read shards and results of other tasks from the files, so
    that nothing is lost with a worker but the tasks that it was running. Those run again on others.

    The dashboard shows a task by the name of its function and of its result.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    @classmethod
    def connect(cls, address: str) -> Self:
        """The engine of the cluster whose scheduler has an address such as ``tcp://10.0.0.1:8786``."""
        distributed = import_distributed()
        try:
            return cls(distributed.Client(address, set_as_default=False))
        except (OSError, ValueError) as error:
            raise ParameterError(
                f"There is no Dask scheduler at {address!r}: {error}. Start one with `dask scheduler` and workers with "
                "`dask worker ADDRESS`, or give another address."
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; the cluster goes on."""
        self.client.close()

    def run(self, tasks: Sequence[Task], what: str) -> None:
        """See `Engine.run`; the first error of a task cancels the others."""
        distributed = import_distributed()
        missing = [task for task in tasks if not task.is_done]
        futures = {self._submit(task): task for task in missing}
        with stage(what, len(tasks)) as advance:
            advance(len(tasks) - len(missing))
            try:
                for future in distributed.as_completed(list(futures), loop=self.client.loop):
                    self._finish(future, futures[future])
                    advance(1)
            except BaseException:
                self.client.cancel(list(futures))
                raise

    def _submit(self, task: Task) -> Any:
        """The future of a task. Its name begins with the function, by which the dashboard groups tasks."""
        function = task.function.partition(":")[2]
        key = f"{function}-{task.output.name}-{secrets.token_hex(8)}"
        return self.client.submit(answer_task, task.as_dict(), key=key, pure=False)

    def _finish(self, future: Any, task: Task) -> None:
        """Raise the error of a task that has ended, if there was one."""
        distributed = import_distributed()
        try:
            check_answer(future.result())
        except distributed.scheduler.KilledWorker as error:
            raise DataError(
                f"Several workers of the cluster ended while they ran {task.name!r}.",
                remedy=f"Perhaps memory ran out: use a smaller {setting_name('memory')}. The same command goes on.",
            ) from error
        except CancelledError as error:
            raise DataError(
                f"The connection to the scheduler ended while {task.name!r} ran.",
                remedy="Start the cluster again. The same command goes on.",
            ) from error
        if not task.is_done:
            raise DataError(
                f"A worker of the cluster has written {task.output.absolute()}, but it is not there.",
                remedy="Use a folder that this process and all workers have under the same path.",
            )


def import_distributed() -> Any:
    """The package distributed; an error with the remedy where it is not installed."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("A Dask cluster", "dask") from None
    return distributed
