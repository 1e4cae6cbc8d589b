"""Marks, escaping, layout, and whether LaTeX accepts it."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from fedbench.tables.escape import latex, markdown
from fedbench.tables.marks import marks
from fedbench.tables.units import COSTS
from tests.records.support import RUN, TABLE, costs, flat

ENGINE = next((name for name in ("pdflatex", "tectonic", "xelatex") if shutil.which(name)), None)
DOCUMENT = r"\documentclass{article}\usepackage{booktabs}\begin{document}\input{%s}\end{document}"


def test_marks_compare_figures_as_printed():
    assert marks({"a": 81.004, "b": 80.996, "c": 80.5, "d": 70.0}, decimals=2) == {
        "a": "best",
        "b": "best",
        "c": "second",
        "d": "",
    }
    assert marks({"a": 1.0, "b": np.nan}, decimals=2) == {"a": "best", "b": ""}


def test_a_column_that_is_not_complete_has_no_best(world):
    world.suite()
    world.fill()
    world.table()
    assert "**70.20" in (world.root / "tables" / "toy.md").read_text()
    shutil.rmtree(world.records / RUN.model_copy(update={"method": "majority"}).folder)
    world.table("--partial")
    text = (world.root / "tables" / "toy.md").read_text()
    assert "| local | 70.20" in text
    assert "- Nothing is bold or underlined in a column with cells that were not run." in text


def test_a_suite_that_changes_the_setting_says_so(world):
    world.suite()
    world.fill()
    world.table()
    assert "As the suite" not in (world.root / "tables" / "toy.md").read_text()
    world.configure("tables", "toy", {**TABLE, "partitions": ["metis-2", "metis-4"]})
    suite = {"title": "S", "description": "-", "seeds": 2, "seeds_per_job": 2}
    world.configure("suites", "s", suite | {"tables": {"toy": {"partitions": ["metis-2"]}}})
    world.table()
    said = "- As the suite 'S' builds it: partitions metis-2. Where the caption says otherwise, this counts."
    assert said in (world.root / "tables" / "toy.md").read_text().splitlines()


def test_cells_with_another_number_of_seeds_say_so(world):
    world.suite(seeds=2, per_job=1)
    world.fill(per_job=1)
    (world.records / RUN.model_copy(update={"method": "fedper"}).folder / "seeds-1-1.json").unlink()
    (world.records / RUN.model_copy(update={"method": "fedper"}).folder / "seeds-1-1.parquet").unlink()
    world.table("--partial")
    lines = (world.root / "tables" / "toy.md").read_text().splitlines()
    assert [line.split("|")[1].strip() for line in lines if "seeds: " in line] == ["fedper"]
    assert "| fedper | 48.00<br>seeds: 1" in "".join(lines)
    assert "- Seeds a cell: 2, unless it says otherwise." in lines


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0.00"), (4_000.0, "< 0.01"), (5_000.0, "0.01"), (3_994_737_900_000.0, "3,994,737.90")]
)
def test_large_figures_have_separators_and_small_ones_are_not_zero(value, text):
    assert COSTS["bytes_up_per_round"].text(value) == text


def test_latex_escapes_every_special_character():
    assert latex(r"a_b & 5% #1 {x} ~ ^ $ \ <|>") == (
        r"a\_b \& 5\% \#1 \{x\} \textasciitilde{} \textasciicircum{} \$ \textbackslash{} "
        r"\textless{}\textbar{}\textgreater{}"
    )


def test_markdown_escapes_all_but_code():
    assert markdown("a_b | *c* `d_e`") == r"a\_b \| \*c\* `d_e`"


def test_partitions_are_named_where_clients_alone_do_not_tell_them_apart(world):
    world.suite(toy={**TABLE, "partitions": ["metis-2", "metis-2-s1"]})
    world.fill()
    world.table("--partial")
    assert "| Cora, metis-2 | Cora, metis-2-s1 |" in (world.root / "tables" / "toy.md").read_text()


@pytest.fixture
def wide(world):
    """Four data sets of three partitions: two blocks of columns; an awkward label, a note, and one stale record."""
    datasets, partitions = ["cora", "b_2", "c&d", "e"], ["metis-2", "metis-3", "metis-4"]
    world.suite(toy={**TABLE, "datasets": datasets, "partitions": partitions})
    variants = {"default": {"label": "Fed_Avg & 100%", "note": "half #1 {of} it"}}
    world.configure("methods", "fedavg", {"label": "x", "variants": variants})
    world.fill()
    world.configure("protocols", "toy", {"title": "T", "source": "-", "training": {"rounds": 9}})
    world.table("--partial")
    return world.root / "tables"


def test_tex_has_the_table_laid_out_like_the_paper(wide):
    text = (wide / "toy.tex").read_text()
    assert text.count(r"\begin{tabular}") == text.count(r"\begin{table*}") == 2  # a float a block
    assert (text.count(r"\caption{"), text.count("Toy, continued"), text.count(r"\begin{minipage}")) == (1, 1, 1)
    assert r"& \multicolumn{3}{c}{Cora} & \multicolumn{3}{c}{b\_2} & \multicolumn{3}{c}{c\&d} \\" in text
    assert r"Fed\_Avg \& 100\% & \underline{63.00}" in text
    assert r"local & \textbf{70.20}" in text
    assert r"Fed\_Avg \& 100\%: half \#1 \{of\} it." in text
    assert "Verdicts: reproduced, our mean differs from the published one by at most 0.5 points" in text
    assert "Verdicts here: 1 not published, 44 not run, 2 off by, 1 reproduced." in text


def test_markdown_has_published_figure_and_verdict_in_each_cell(wide):
    text = (wide / "toy.md").read_text()
    assert "**70.20 ± 0.00** †<br>70.00 ± 0.50: reproduced" in text
    assert "<u>63.00 ± 0.00</u> †<br>60.00: off by +3.00" in text
    table = [line for line in text.splitlines() if line.startswith("|")]
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in table]
    assert widths == [11] * 8 + [5] * 8  # two blocks: head, rule, four methods, two rank correlations


def test_rank_correlation_stands_below(world):
    world.fill()  # here 70.2 > 63 > 48 as published 70 > 60 > 50
    world.table()
    assert "| *Spearman's rho* | 1.00 (3) |" in (world.root / "tables" / "toy.md").read_text()


def test_of_two_variants_the_first_is_ranked(world):
    rows = [*TABLE["rows"], {"method": "fedper", "variant": "other", "published": "FedPer"}]
    world.configure("methods", "fedper", {"label": "FedPer", "variants": {"default": {}, "other": {}}})
    world.suite(toy={**TABLE, "rows": rows})
    world.fill()
    world.write(flat(0.99), RUN.model_copy(update={"method": "fedper", "variant": "other"}), costs=costs((0, 1)))
    world.table()
    assert "| *Kendall's tau* | 1.00 (3) |" in (world.root / "tables" / "toy.md").read_text()


def test_tex_structure(wide):
    check_structure((wide / "toy.tex").read_text())


def test_structure_check_sees_a_fault(wide):
    text = (wide / "toy.tex").read_text()
    for good, bad in ((r"\end{minipage}", ""), (r"\caption{", r"\caption"), (" & ", " ")):
        broken = text.replace(good, bad, 1)
        assert broken != text
        with pytest.raises(AssertionError):
            check_structure(broken)


@pytest.mark.skipif(ENGINE is None, reason="no TeX engine on PATH")
def test_tex_compiles(wide, tmp_path):
    (tmp_path / "all.tex").write_text(DOCUMENT % (wide / "toy.tex"))
    options = [] if ENGINE == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    done = subprocess.run([ENGINE, *options, "all.tex"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "all.pdf").stat().st_size > 1000


def check_structure(text):
    """Environments nest, braces balance, and each row of a tabular has as many columns as it declares."""
    plain = re.sub(r"(?m)(?<!\\)%.*$", "", text)
    open_environments = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", plain):
        if kind == "begin":
            open_environments.append(name)
        else:
            assert open_environments.pop() == name
    assert not open_environments
    bare = re.sub(r"\\[{}]", "", plain)
    assert bare.count("{") == bare.count("}")
    for columns, body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", plain, re.S):
        for row in body.split(r"\\")[:-1]:
            spans = [int(number) for number in re.findall(r"\\multicolumn\{(\d+)\}", row)]
            cells = len(re.findall(r"(?<!\\)&", row)) + 1
            assert cells + sum(spans) - len(spans) == len(columns), row
