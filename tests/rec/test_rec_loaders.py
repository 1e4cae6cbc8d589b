"""Loaders against small files in each raw layout, the pairs written out by hand."""

import gzip
import io
import tarfile
import zipfile

import pytest
from rec_support import raw

from fedbench.datasets.rec import ngcf, table
from fedbench.datasets.rec.raw import TEST, TRAIN
from fedbench.errors import DataError
from fedbench.sources.formats import NgcfFiles, TableFiles

TRAIN_TXT = "0 5 3 4 \r\n2 3\r\n1\r\n"  # trailing blank and a user without items, as in Amazon-Book's files
TEST_TXT = "2 5 9\n0 9\n"
PAIRS = [(0, 5, TRAIN), (0, 3, TRAIN), (0, 4, TRAIN), (2, 3, TRAIN), (2, 5, TEST), (2, 9, TEST), (0, 9, TEST)]


def rows(pairs):
    return list(zip(pairs.users.tolist(), pairs.items.tolist(), pairs.given.tolist(), strict=True))


def plain(folder):
    (folder / "train.txt").write_bytes(TRAIN_TXT.encode())
    (folder / "test.txt").write_text(TEST_TXT)
    return NgcfFiles(format="ngcf", train="train.txt", test="test.txt")


def gzipped(folder):
    (folder / "train.txt.gz").write_bytes(gzip.compress(TRAIN_TXT.encode()))
    (folder / "test.txt.gz").write_bytes(gzip.compress(TEST_TXT.encode()))
    return NgcfFiles(format="ngcf", train="train.txt.gz", test="test.txt.gz")


def tarred(folder):
    with tarfile.open(folder / "all.tar.gz", "w:gz") as packed:
        for name, text in (("a/train.txt", TRAIN_TXT), ("a/test.txt", TEST_TXT)):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            packed.addfile(info, io.BytesIO(text.encode()))
    return NgcfFiles(format="ngcf", archive="all.tar.gz", train="a/train.txt", test="a/test.txt")


def zipped(folder):
    with zipfile.ZipFile(folder / "all.zip", "w") as packed:
        packed.writestr("a/train.txt", TRAIN_TXT)
        packed.writestr("a/test.txt", TEST_TXT)
    return NgcfFiles(format="ngcf", archive="all.zip", train="a/train.txt", test="a/test.txt")


@pytest.mark.parametrize("write", [plain, gzipped, tarred, zipped])
def test_ngcf_files_in_each_packing(tmp_path, write):
    pairs = ngcf.load(tmp_path, write(tmp_path))
    assert rows(pairs) == PAIRS
    assert pairs.has_test


TABLES = {  # text, loader settings, pairs
    "u.data": ("196\t242\t3\t881250949\n186\t302\t3\t891717742\n", {}, [(196, 242), (186, 302)]),
    "ratings.dat": ("1::1193::5::978300760\n1::661::3::978302109\n", {"separator": "::"}, [(1, 1193), (1, 661)]),
    "ml.inter": (
        "user_id:token\titem_id:token\trating:float\ttimestamp:float\n196\t242\t3\t881250949\n",
        {"header": 1},
        [(196, 242)],
    ),
    "tmall-buy.inter": (
        "user_id:token\tseller_id:token\titem_id:token\tcategory_id:token\ttimestamp:float\n"
        "2\t9\t7000000000\t3\t1444608000\n2\t9\t7000000000\t3\t1444694400\n1\t9\t4\t3\t1444608000\n",
        {"header": 1, "item": 2},
        [(2, 7000000000), (1, 4)],
    ),
    "data1.txt": ("424\t4076\t993\r\n1311\t1574\t957\r\n", {}, [(424, 4076), (1311, 1574)]),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(tmp_path, name):
    text, options, expected = TABLES[name]
    (tmp_path / name).write_bytes(text.encode())
    pairs = table.load(tmp_path, TableFiles(format="table", train=(name,), **options))
    assert rows(pairs) == [(user, item, TRAIN) for user, item in expected]
    assert not pairs.has_test


def test_a_table_of_several_parts_and_a_test_part(tmp_path):
    for name, text in (("a", "1\t2\n"), ("b", "3\t4\n1\t2\n"), ("c", "1\t4\n")):
        (tmp_path / name).write_text(text)
    pairs = table.load(tmp_path, TableFiles(format="table", train=("a", "b"), test=("c",)))
    assert rows(pairs) == [(1, 2, TRAIN), (3, 4, TRAIN), (1, 4, TEST)]
    assert pairs.has_test


def test_a_pair_given_twice_stays_where_it_came_first():
    assert rows(raw([(1, 1), (0, 2), (1, 1), (0, 3), (0, 2)])) == [(1, 1, TRAIN), (0, 2, TRAIN), (0, 3, TRAIN)]


def test_a_pair_that_trains_and_tests_is_refused():
    with pytest.raises(DataError, match="2 pairs in both"):
        raw([(1, 1), (2, 2), (3, 3)], [(3, 3), (1, 1), (1, 2)])


@pytest.mark.parametrize("text", ["0 1 x\n", "0 1 2.5\n"])
def test_text_in_place_of_numbers_is_refused(tmp_path, text):
    (tmp_path / "train.txt").write_text(text)
    (tmp_path / "test.txt").write_text("0 9\n")
    with pytest.raises(DataError, match=r"pairs of train\.txt"):
        ngcf.load(tmp_path, NgcfFiles(format="ngcf", train="train.txt", test="test.txt"))


@pytest.mark.parametrize(("text", "column"), [("1\tx\n", 1), ("1\t2\n", 2), ("1.5\t2\n", 1)])
def test_a_table_that_does_not_fit_is_refused(tmp_path, text, column):
    (tmp_path / "u.data").write_text(text)
    with pytest.raises(DataError, match=r"pairs of u\.data"):
        table.load(tmp_path, TableFiles(format="table", train=("u.data",), item=column))


def test_a_negative_id_is_refused(tmp_path):
    (tmp_path / "u.data").write_text("-1\t2\n")
    with pytest.raises(DataError, match="-1"):
        table.load(tmp_path, TableFiles(format="table", train=("u.data",)))


@pytest.mark.parametrize("broken", ["none", "not gzip", "no member"])
def test_a_file_that_cannot_be_read_is_an_error_with_a_remedy(tmp_path, broken):
    loaders = {
        "none": NgcfFiles(format="ngcf", train="train.txt", test="test.txt"),
        "not gzip": NgcfFiles(format="ngcf", train="train.txt.gz", test="test.txt"),
        "no member": NgcfFiles(format="ngcf", archive="all.tar.gz", train="b/train.txt", test="a/test.txt"),
    }
    tarred(tmp_path)
    (tmp_path / "train.txt.gz").write_text("0 1\n")
    with pytest.raises(DataError, match="fetch the files again"):
        ngcf.load(tmp_path, loaders[broken])
