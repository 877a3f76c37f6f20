"""Hostile files of counts (libsvm, XMC, npz): tiny files that claim much, and arrays that are no matrix."""

import zipfile

import numpy as np
import pytest
from scipy import sparse

from hostile import read_all, run
from manylabel.data import read
from manylabel.exceptions import DataError, ParameterError


def test_a_large_index_of_libsvm_is_refused(tmp_path):
    for index in (10**8, 2 * 10**9, 2**63, 10**30):
        (tmp_path / f"{index}.svm").write_text(f"1 {index}:1\n")
    found = read_all(sorted(tmp_path.glob("*.svm")), tmp_path)
    assert len(found) == 4
    for sentence in found.values():
        assert all(word in sentence for word in ("svm, line 1: ", "4,194,304", "limits={'features': "))


@pytest.mark.parametrize("header", ["1 2000000000 3", "1 3 2000000000", "2000000000 3 3", "1 2 " + "9" * 5000])
def test_a_large_header_of_xmc_is_refused(header, tmp_path):
    path = tmp_path / "a.xmc"
    path.write_text(f"{header}\n0 0:1\n")
    with pytest.raises(DataError, match=r"line 1: (There are 2,000,000,000 .*limits=|The first line)"):
        read(path)


def test_limits_can_be_raised(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 200:1\n")
    with pytest.raises(DataError, match=r"There are 200 columns, and at most 100 are read"):
        read(path, limits={"features": 100})
    assert read(path, limits={"features": 200}).corpus.counts.shape == (1, 200)
    with pytest.raises(ParameterError, match=r"Unknown limit: 'feature'. Did you mean 'features'"):
        read(path, limits={"feature": 200})
    run("describe", path, "--limit", "features=100", folder=tmp_path).refuse("a.svm, line 1", "--limit features=")


def saved(path, **arrays):
    np.savez_compressed(path, **{"format": b"csr", "shape": np.array([2, 3]), **arrays})
    return path


GOOD = {"data": np.ones(2), "indices": np.array([0, 2], dtype=np.int32), "indptr": np.array([0, 1, 2], dtype=np.int32)}
WRONG: dict[str, dict[str, object]] = {
    "column beyond": {"indices": np.array([0, 3])},
    "column below": {"indices": np.array([0, -1])},
    "falling indptr": {"indptr": np.array([0, 2, 1])},
    "indptr beyond": {"indptr": np.array([0, 1, 10**9])},
    "short indptr": {"indptr": np.array([0, 2])},
    "unsigned indptr": {"indptr": np.array([0, 2**64 - 1, 2], dtype=np.uint64)},
    "float indptr": {"indptr": np.array([0.0, 1.0, 2.0])},
    "data of another length": {"data": np.ones(3)},
    "complex data": {"data": np.ones(2, dtype=complex)},
    "text": {"data": np.array(["a", "b"])},
    "csc row beyond": {"format": b"csc", "shape": np.array([2, 2]), "indices": np.array([0, 10**9])},
    "shape of 10^12": {"shape": np.array([10**12, 3])},
    "negative shape": {"shape": np.array([-2, 3])},
    "shape of three": {"shape": np.array([2, 3, 4])},
    "wide": {"shape": np.array([2, 2 * 10**9])},
    "unknown format": {"format": b"dia"},
    "not finite": {"data": np.array([1, np.nan])},
    "coo beyond": {"format": b"coo", "row": np.array([0, 2]), "col": np.array([0, 1])},
    "coo lengths": {"format": b"coo", "row": np.array([0]), "col": np.array([0, 1])},
    "two dimensions": {"data": np.ones((2, 1))},
}


@pytest.mark.parametrize("case", WRONG)
def test_arrays_that_are_no_matrix_are_refused(case, tmp_path):
    with pytest.raises(DataError, match=r"X\.npz: "):
        read(saved(tmp_path / "X.npz", **{**GOOD, **WRONG[case]}))


def test_objects_are_never_unpickled(tmp_path):
    arrays = {**GOOD, "data": np.array([{}, {}], dtype=object)}
    with pytest.raises(DataError, match=r"holds an array of object"):
        read(saved(tmp_path / "X.npz", **arrays))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "?"])
def test_every_format_and_type_is_read(kind, dtype, tmp_path):
    dense = np.array([[0, 1, 0], [1, 0, 1], [0, 0, 0]])
    sparse.save_npz(tmp_path / "X.npz", sparse.coo_array(dense.astype(dtype)).asformat(kind))
    assert read(tmp_path / "X.npz").corpus.counts.toarray().tolist() == dense.tolist()


def test_an_array_that_claims_more_than_it_has_allocates_nothing(tmp_path):
    path = saved(tmp_path / "X.npz", **GOOD)
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, header.ljust(127) + b"\n" if name == "data.npy" else data)
    assert "claims 8,000,000,000,000 bytes" in read_all([path], tmp_path)["X.npz"]


def test_a_bomb_of_zeros_is_refused(tmp_path):
    path = saved(tmp_path / "X.npz", **{**GOOD, "data": np.zeros(10**7)})
    assert "more than 100 times as much" in read_all([path], tmp_path)["X.npz"]
