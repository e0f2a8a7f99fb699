import hashlib
import json
from pathlib import Path

import pytest

from annotate.errors import AnnotateError
from annotate.runnable.runtime import FILES, LOCK, from_cdn, from_folder

WHEEL = b"not really a wheel"


def write_folder(folder: Path, **changed: object) -> Path:
    """A folder like one with Pyodide, whose numpy depends on another package."""
    packages = {
        "numpy": {"file_name": "numpy.whl", "depends": ["blas"]},
        "blas": {"file_name": "blas.whl", "depends": []},
        "scipy": {"file_name": "scipy.whl", "depends": ["numpy"]},
    }
    for package in packages.values():
        package["sha256"] = hashlib.sha256(WHEEL).hexdigest()
        package.update(changed)
    for name in (*FILES, "numpy.whl", "blas.whl"):
        (folder / name).write_bytes(WHEEL)
    (folder / LOCK).write_text(json.dumps({"info": {"version": "0.99"}, "packages": packages}))
    return folder


def test_a_folder_is_carried_with_numpy_and_what_that_needs(tmp_path: Path) -> None:
    runtime = from_folder(write_folder(tmp_path), "pyodide/")
    assert set(runtime.files) == {*FILES, "numpy.whl", "blas.whl"}
    assert set(runtime.wheels) == {"numpy.whl", "blas.whl"}
    assert (runtime.version, runtime.base, runtime.host) == ("0.99", "pyodide/", "")
    assert runtime.size == sum(path.stat().st_size for path in tmp_path.iterdir())
    assert runtime.integrity == {}


@pytest.mark.parametrize("name", [*FILES, "numpy.whl", "blas.whl"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (write_folder(tmp_path) / name).unlink()
    with pytest.raises(AnnotateError, match=f"has no {name}"):
        from_folder(tmp_path, "")


def test_a_wheel_must_be_the_one_of_the_lock_file(tmp_path: Path) -> None:
    write_folder(tmp_path)
    (tmp_path / "blas.whl").write_bytes(WHEEL + b"!")
    with pytest.raises(AnnotateError, match=r"blas\.whl is not the file"):
        from_folder(tmp_path, "")


@pytest.mark.parametrize("lock", ["", "[]", "{}", '{"info": {"version": "1"}, "packages": {}}'])
def test_a_lock_file_of_another_kind_is_refused(tmp_path: Path, lock: str) -> None:
    (write_folder(tmp_path) / LOCK).write_text(lock)
    with pytest.raises(AnnotateError, match="cannot be read"):
        from_folder(tmp_path, "")


def test_everything_from_the_cdn_is_checked() -> None:
    runtime = from_cdn()
    assert runtime.host == "cdn.jsdelivr.net"
    assert runtime.files == {}
    addresses = {*runtime.wheels, *(runtime.base + name for name in FILES)}
    assert runtime.integrity.keys() == addresses
    assert all(address.startswith("https://cdn.jsdelivr.net/") for address in addresses)
