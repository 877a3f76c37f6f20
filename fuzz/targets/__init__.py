"""The table of targets: everything that reads what a stranger may hand over."""

from fuzz.targets.base import Target
from fuzz.targets.labels import LABELS
from fuzz.targets.models import MODELS
from fuzz.targets.readers import READERS
from fuzz.targets.settings import OTHERS

TARGETS: dict[str, Target] = {target.name: target for target in (*READERS, *LABELS, *MODELS, *OTHERS)}
