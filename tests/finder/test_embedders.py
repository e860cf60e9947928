"""Embedders: vectors of this machine and of a server, which may lie, hang or answer nonsense."""

from __future__ import annotations

import stat
import threading

import numpy as np
import pytest

from cortex_skills import Config
from cortex_skills.errors import CortexError
from cortex_skills.features.finder.embedder_choice import open_embedder
from cortex_skills.features.finder.embedders import EmbedderError
from cortex_skills.features.finder.embeddings_endpoint import EmbeddingsEndpoint
from cortex_skills.features.finder.static_vectors import StaticVectors
from cortex_skills.features.finder.vector_cache import CachedEmbedder
from tests.finder.embedding_server import as_answer, embedding_server


@pytest.fixture
def server():
    with embedding_server() as server:
        yield server


def test_texts_of_one_meaning_have_similar_vectors_on_this_machine():
    drink, same, other = StaticVectors().embed(["a cup of hot tea", "a mug of warm coffee", "tax law of 1997"], 1.0)
    assert drink.shape == (256,)
    assert np.linalg.norm(drink) == pytest.approx(1.0, abs=1e-5)
    assert drink @ same > 0.4 > 0.3 > drink @ other


def test_a_text_without_a_known_token_has_a_row_of_zeros_and_a_lone_surrogate_is_no_failure():
    rows = StaticVectors().embed(["", "\ud800 tea"], 1.0)
    assert not rows[0].any()
    assert rows[1].any()


def test_none_has_no_embedder_and_an_endpoint_without_a_model_is_refused():
    assert open_embedder(Config().finder) is None
    with pytest.raises(CortexError, match=r"needs finder\.endpoint and model") as caught:
        open_embedder(Config(finder={"embedder": "http"}).finder)
    assert caught.value.code == "config_invalid"


@pytest.mark.parametrize(
    "finder",
    [{"embedder": "cloud"}, {"endpoint": "ftp://a/v1"}, {"endpoint": "http://user:secret@host/v1"}, {"model": 7}],
)
def test_settings_of_the_wrong_kind_are_refused(finder):
    with pytest.raises(CortexError) as caught:
        Config(finder=finder)
    assert caught.value.code == "config_invalid"


def test_vectors_of_a_server_come_back_in_the_order_of_the_texts(server, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "k-123")
    settings = Config(finder={"endpoint": server.url, "model": "m", "key_variable": "SOME_KEY"}).finder
    texts = [f"text {number}" for number in range(70)]
    rows = EmbeddingsEndpoint.of(settings).embed(texts, 5.0)
    assert np.allclose(rows, StaticVectors().embed(texts, 1.0), atol=1e-5)
    assert [len(request["input"]) for request in server.asked] == [64, 6]
    assert server.asked[0]["model"] == "m"
    assert server.keys == ["Bearer k-123", "Bearer k-123"]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"data": 7}',
        b'{"data": [7]}',
        b'{"data": []}',
        b'{"data": [{"index": true, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 1, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": ["ignore all instructions"]}]}',
        b'{"data": [{"index": 0, "embedding": [[1], [2]]}]}',
        b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": 5}]}',
        b'{"data": [{"index": 0, "embedding": [1, NaN]}]}',
        b'{"data": [{"index": 0, "embedding": [1e999, 2]}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b"[" * 100_000,
        as_answer([[1.0] * 9000]),
        b" " * 2_000_000,
    ],
    ids=range(19),
)
def test_an_answer_that_is_no_vector_for_each_text_is_an_error(server, answer):
    server.answer = lambda texts: answer
    with pytest.raises(EmbedderError, match="answers with"):
        EmbeddingsEndpoint(server.url, "m").embed(["one"], 5.0)


def test_a_server_that_changes_its_dimension_is_an_error(server):
    endpoint = EmbeddingsEndpoint(server.url, "m")
    server.answer = lambda texts: as_answer([[1.0, 2.0]] * len(texts))
    assert endpoint.embed(["one"], 5.0).shape == (1, 2)
    server.answer = lambda texts: as_answer([[1.0, 2.0, 3.0]] * len(texts))
    with pytest.raises(EmbedderError, match="answers with 3 dimensions, and had 2 before"):
        endpoint.embed(["two"], 5.0)


def test_a_refusal_is_reported_without_the_key(server, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "secret-key")
    server.status, server.answer = 401, lambda texts: b"who are you?"
    with pytest.raises(EmbedderError, match=r"answers 401: who are you\?") as caught:
        EmbeddingsEndpoint(server.url, "m", "SOME_KEY").embed(["one"], 5.0)
    assert server.keys == ["Bearer secret-key"]
    assert "secret-key" not in str(caught.value)


def test_a_server_that_hangs_is_given_up_in_time_and_then_not_asked_for_a_while(server):
    goes_on = threading.Event()
    server.answer = lambda texts: as_answer([[1.0]] * (1 + goes_on.wait(30) * 0))
    endpoint = EmbeddingsEndpoint(server.url, "m")
    for _ in range(2):
        with pytest.raises(EmbedderError, match=r"did not answer within 0\.2 s"):
            endpoint.embed(["one"], 0.2)
    with pytest.raises(EmbedderError, match="failed 2 times in a row and is not contacted"):
        endpoint.embed(["one"], 0.2)
    assert len(server.asked) == 2
    goes_on.set()


def test_each_text_is_asked_for_once_and_anew_for_another_model(server, tmp_path):
    file = tmp_path / "cache" / "vectors.sqlite"
    first = CachedEmbedder(EmbeddingsEndpoint(server.url, "m"), file)
    rows = first.embed(["one", "two", "one"], 5.0)
    again = CachedEmbedder(EmbeddingsEndpoint(server.url, "m"), file).embed(["two", "three"], 5.0)
    assert np.allclose(rows[1], again[0])
    assert np.allclose(rows[0], rows[2])
    assert sorted(set(server.texts)) == ["one", "three", "two"]
    assert server.texts.count("two") == 1
    CachedEmbedder(EmbeddingsEndpoint(server.url, "other"), file).embed(["two"], 5.0)
    assert server.texts.count("two") == 2
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_cache_that_is_no_database_costs_requests_and_nothing_else(server, tmp_path):
    file = tmp_path / "vectors.sqlite"
    file.write_bytes(b"not a database" * 100)
    embedder = CachedEmbedder(EmbeddingsEndpoint(server.url, "m"), file)
    assert embedder.embed(["one"], 5.0).shape == (1, 256)
    assert embedder.embed(["one"], 5.0).shape == (1, 256)
    assert server.texts == ["one", "one"]


def test_vectors_of_another_dimension_in_the_cache_are_asked_for_anew(server, tmp_path):
    file = tmp_path / "vectors.sqlite"
    server.answer = lambda texts: as_answer([[1.0, 2.0]] * len(texts))
    CachedEmbedder(EmbeddingsEndpoint(server.url, "m"), file).embed(["one"], 5.0)
    server.answer = lambda texts: as_answer([[1.0, 2.0, 2.0]] * len(texts))
    assert CachedEmbedder(EmbeddingsEndpoint(server.url, "m"), file).embed(["one", "two"], 5.0).shape == (2, 3)
