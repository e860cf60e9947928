"""The embedder of models in ONNX, with a model of a few words that is made here: nothing is downloaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from cortex_skills import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.finder.embedder_choice import open_embedder
from cortex_skills.features.finder.embedders import EmbedderError
from cortex_skills.features.finder.onnx_vectors import MODEL, OnnxVectors
from tests.finder.owned_index import OwnedIndex

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "tea", "coffee", "drink", "tax", "law"]
MEANINGS = [[0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0], [5, 0, 0], [5, 1, 0], [4, 0, 0], [0, 5, 0], [0, 5, 1]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose vectors are the rows of `MEANINGS`: the first token's, after adding those of all tokens."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    place = tmp_path_factory.mktemp("model")
    table = numpy_helper.from_array(np.array(MEANINGS, dtype=np.float32), "table")
    axis = numpy_helper.from_array(np.array([1], dtype=np.int64), "axis")
    ints = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    rows = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", 1, 3])
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["each"]),
        helper.make_node("ReduceSum", ["each", "axis"], ["last_hidden_state"], keepdims=1),
    ]
    graph = helper.make_graph(nodes, "words", ints, [rows], [table, axis])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(place / "model_optimized.onnx"))
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(place / "tokenizer.json"))
    (place / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    limits = {"model_max_length": 64, "pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]"}
    (place / "tokenizer_config.json").write_text(json.dumps(limits | {"sep_token": "[SEP]"}))
    special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    (place / "special_tokens_map.json").write_text(json.dumps(special))
    return place


def test_a_model_of_a_folder_makes_vectors_of_one_length(folder):
    rows = OnnxVectors(MODEL, folder).embed(["tea", "coffee", "tax law", "\ud800", "tea " * 5000], 60.0)
    assert rows.shape == (5, 3)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert rows[0] @ rows[1] > 0.9 > 0.6 > rows[0] @ rows[2]


def test_texts_are_found_by_the_meanings_of_the_configured_model(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    embedder = open_embedder(Config(finder={"embedder": "fastembed", "folder": str(folder)}).finder)
    assert embedder is not None
    embedder.embed(["tea"], 60.0)  # loads the model
    index = OwnedIndex(embedder)
    index.change(add=[(1, "coffee", 1.0), (2, "tax law", 1.0)])
    found = index.search("tea drink", 0.0, 1, min_similarity=0.7)
    assert ([hit.number for hit in found.hits], found.problem) == ([1], None)


def test_a_folder_without_a_model_is_a_failure_that_leaves_the_words(tmp_path):
    for folder in (tmp_path, tmp_path / "missing"):
        embedder = OnnxVectors(MODEL, folder)
        for _ in range(2):
            with pytest.raises(EmbedderError, match="cannot be loaded"):
                embedder.embed(["tea"], 60.0)
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        OnnxVectors("no/such-model", tmp_path).embed(["tea"], 60.0)


def test_a_model_that_takes_long_to_load_is_not_waited_for(folder, monkeypatch):
    go_on, load = threading.Event(), OnnxVectors._load
    monkeypatch.setattr(OnnxVectors, "_load", lambda self: go_on.wait(60) and load(self))
    embedder = OnnxVectors(MODEL, folder)
    with pytest.raises(EmbedderError, match="is being loaded"):
        embedder.embed(["tea"], 0.0)
    go_on.set()
    assert embedder.embed(["tea"], 60.0).shape == (1, 3)


def test_another_model_in_the_folder_has_another_name(folder, tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"1")
    first = OnnxVectors(MODEL, tmp_path).name
    os.utime(tmp_path / "model.onnx", (1, 1))
    assert OnnxVectors(MODEL, tmp_path).name != first
    assert OnnxVectors(MODEL, folder).name != first


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(CortexError, match="fastembed is not installed") as caught:
        open_embedder(Config(finder={"embedder": "fastembed"}).finder)
    assert caught.value.hint == "pip install 'cortex-skills[fastembed]'"


def test_the_package_is_not_imported_before_the_first_text():
    code = "from cortex_skills import Config; from cortex_skills.features.finder.embedder_choice import open_embedder; "
    code += (
        "import sys; open_embedder(Config(finder={'embedder': 'fastembed'}).finder); print('fastembed' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
