"""The signals of retrieved documents, and what is made of them."""

from typing import Any

import numpy as np
import pytest
from haystack import Document
from makers import rewritten_surface

from haystack_integrations.crag.signals import (
    DOCUMENT_SIGNALS,
    Signals,
    coherence,
    kept_similarity,
    measure,
    score_tags,
    similarities,
)
from haystack_integrations.crag.static_model import load_encoder
from haystack_integrations.crag.weighting import check_weights, document_score, set_score, weighted
