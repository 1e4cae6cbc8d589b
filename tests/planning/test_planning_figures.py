"""Stages and figures are described without importing what they draw with."""

from fedbench.figures import figure_names
from fedbench.planning.figures import figure_text
from fedbench.planning.stage import stage_digest
from fedbench.provenance import code


def test_every_figure_has_a_caption():
    names = figure_names()
    assert "accuracy-by-round" in names
    assert all(len(figure_text(name)["CAPTION"]) > 20 for name in names)


def test_a_stage_depends_on_its_own_code(monkeypatch):
    before = {name: stage_digest(name) for name in ("partition", "table")}
    digest = code.program_digest

    def changed(module: str) -> str:
        return "changed" if module == "fedbench.partition.cut" else digest(module)

    monkeypatch.setattr("fedbench.planning.stage.program_digest", changed)
    assert stage_digest("partition") != before["partition"]
    assert stage_digest("table") == before["table"]


def test_how_files_are_fetched_makes_nothing_stale(monkeypatch):
    before = stage_digest("dataset")
    digest = code.program_digest

    def changed(module: str) -> str:
        return "changed" if module == "fedbench.sources.http" else digest(module)

    monkeypatch.setattr("fedbench.planning.stage.program_digest", changed)
    assert stage_digest("dataset") == before
