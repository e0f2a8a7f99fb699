"""What archives are let give: regular files under safe paths, within limits, or a clear error."""

import gzip
import io
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotate.errors import AnnotateError, Exit
from annotate.pin import Pin
from annotate.upstream.archive import Archive
from annotate.upstream.tree import MAX_FILE_BYTES, blob_id
from tests.upstream.archives import file, other, sdist, tar_gz, truncated_tar_gz, zip_of

PIN = Pin("upstream", "https://example.org/upstream", "a" * 40)
FILES = {"PKG-INFO": b"Name: upstream\n", "pkg/__init__.py": b"", "pkg/core.py": b"x = 1\r\n"}


class Reading:
    """Reads an archive from a file of its own; the limits are small, so that tests are quick."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.left_out: list[str] = []

    def __call__(
        self,
        data: bytes,
        name: str = "upstream-1.0.tar.gz",
        *,
        max_bytes: int = 10_000_000,
        max_members: int = 100,
    ) -> dict[str, bytes | None]:
        path = self.folder / "archive"
        path.write_bytes(data)
        self.left_out.clear()
        files = {}
        for member, found, content in Archive(path, name, max_bytes, max_members).entries(
            PIN, self.left_out
        ):
            if content is not None:
                assert found.blob == blob_id(content)
                assert found.size == len(content)
            files[member] = content
        assert sorted(self.folder.iterdir()) == [path], "something was extracted"
        return files

    def refused(self, data: bytes, name: str = "upstream-1.0.tar.gz", **limits: int) -> str:
        with pytest.raises(AnnotateError) as caught:
            self(data, name, **limits)
        assert caught.value.exit_code is Exit.NOTHING_JUDGED
        assert caught.value.hint
        assert caught.value.message.startswith(f"upstream: {name} ")
        return caught.value.message.removeprefix(f"upstream: {name} ")


@pytest.fixture
def read(tmp_path: Path) -> Reading:
    (tmp_path / "archive").mkdir()
    return Reading(tmp_path / "archive")


class TestSound:
    def test_a_source_distribution(self, read: Reading) -> None:
        assert read(sdist(FILES)) == FILES
        assert read.left_out == []

    def test_folders_are_no_files(self, read: Reading) -> None:
        members = [other("upstream-1.0", tarfile.DIRTYPE), file("upstream-1.0/a", b"1")]
        assert read(tar_gz(members)) == {"a": b"1"}
        assert read.left_out == []

    def test_a_zip(self, read: Reading) -> None:
        members = {f"upstream-1.0/{path}": data for path, data in FILES.items()}
        assert read(zip_of({"upstream-1.0/": b"", **members}), "upstream-1.0.zip") == FILES

    @pytest.mark.parametrize(
        "tar_format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
    )
    def test_every_kind_of_tar(self, tar_format: int, read: Reading) -> None:
        path = "deep/" * 15 + "file.py"
        archive = tar_gz([file(f"upstream-1.0/{path}", b"x")], tar_format)
        assert read(archive) == {path: b"x"}

    def test_a_large_file_is_listed_without_its_bytes(self, read: Reading) -> None:
        large = bytes(MAX_FILE_BYTES + 1)
        assert read(sdist({"large": large, "small": b"s"})) == {"large": None, "small": b"s"}
        assert read(zip_of({"u/large": large}), "upstream-1.0.zip") == {"large": None}

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
    @given(
        st.dictionaries(
            st.from_regex(r"[a-z]{1,4}(/[a-zé]{1,4}){0,3}", fullmatch=True), st.binary(), min_size=1
        )
    )
    def test_both_formats_give_any_files_back(self, read: Reading, files: dict[str, bytes]) -> None:
        assert read(sdist(files)) == files
        assert read(zip_of({f"u/{path}": files[path] for path in files}), "u-1.zip") == files


class TestLeftOut:
    @pytest.mark.parametrize(
        "member",
        [
            other("upstream-1.0/evil", tarfile.SYMTYPE, "/etc/passwd"),
            other("upstream-1.0/evil", tarfile.SYMTYPE, "../../outside"),
            other("upstream-1.0/evil", tarfile.LNKTYPE, "upstream-1.0/good"),
            other("upstream-1.0/evil", tarfile.CHRTYPE),
            other("upstream-1.0/evil", tarfile.BLKTYPE),
            other("upstream-1.0/evil", tarfile.FIFOTYPE),
            other("upstream-1.0/evil", tarfile.GNUTYPE_SPARSE),
        ],
    )
    def test_what_is_no_regular_file(
        self, member: tuple[tarfile.TarInfo, bytes], read: Reading
    ) -> None:
        archive = tar_gz([member, file("upstream-1.0/good", b"1")], tarfile.GNU_FORMAT)
        assert read(archive) == {"good": b"1"}
        assert read.left_out == ["'evil' (not a regular file)"]

    @pytest.mark.parametrize(
        "name",
        [
            "/etc/passwd",
            "../outside",
            "upstream-1.0/../../outside",
            "upstream-1.0/a/../b",
            "upstream-1.0/./a",
            "upstream-1.0//a",
            "upstream-1.0/.git/hooks/post-checkout",
            "upstream-1.0/a\\..\\b",
            "upstream-1.0/new\nline",
            "upstream-1.0/escape\x1b[31m",
            "upstream-1.0/latin\udce9",
        ],
    )
    def test_names_that_are_no_safe_path(self, name: str, read: Reading) -> None:
        archive = tar_gz([file(name, b"evil"), file("upstream-1.0/good", b"1")])
        assert read(archive) == {"good": b"1"}
        assert read.left_out == [f"{name!a} (not a safe path)"]

    def test_a_link_in_a_zip(self, read: Reading) -> None:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            link = zipfile.ZipInfo("u/link")
            link.external_attr = 0o120777 << 16
            archive.writestr(link, "/etc/passwd")
            archive.writestr("u/good", b"1")
            archive.writestr("u/../../outside", b"evil")
        assert read(buffer.getvalue(), "u-1.zip") == {"good": b"1"}
        assert read.left_out == [
            "'link' (not a regular file)",
            "'u/../../outside' (not a safe path)",
        ]


class TestRefused:
    @pytest.mark.parametrize("kept", [100, 512, 700, 1024, 1024 + 100])
    def test_a_tar_that_ends_too_early(self, kept: int, read: Reading) -> None:
        archive = sdist({"a": b"1" * 400, "b": b"2" * 400})
        assert read.refused(truncated_tar_gz(archive, kept)).startswith("is damaged: ")

    @pytest.mark.parametrize("missing", [1, 8, 20, 60])
    def test_a_compression_that_ends_too_early(self, missing: int, read: Reading) -> None:
        assert read.refused(sdist(FILES)[:-missing]).startswith("is damaged: ")

    def test_a_compression_that_ends_long_after_the_tar(self, read: Reading) -> None:
        padded = gzip.compress(gzip.decompress(sdist(FILES)) + bytes(200_000))
        assert read(padded) == FILES
        assert read.refused(padded[:-1]).startswith("is damaged: ")

    @pytest.mark.parametrize("data", [b"", b"no archive", gzip.compress(b"no tar" * 200, mtime=0)])
    def test_no_archive_at_all(self, data: bytes, read: Reading) -> None:
        read.refused(data)
        read.refused(data, "upstream-1.0.zip")

    def test_a_flipped_byte(self, read: Reading) -> None:
        tar = bytearray(sdist(FILES))
        tar[len(tar) // 2] ^= 0xFF
        assert read.refused(bytes(tar)).startswith("is damaged: ")
        archive = zipfile.ZipFile(io.BytesIO(zip_of({"u/a": b"1" * 100})))
        data = bytearray(zip_of({"u/a": b"1" * 100}))
        data[archive.infolist()[0].header_offset + 36] ^= 0xFF
        assert read.refused(bytes(data), "u-1.zip").startswith("is damaged: ")

    def test_a_size_that_is_a_lie_in_a_zip(self, read: Reading) -> None:
        data = bytearray(zip_of({"u/a": b"1" * 100}))
        struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 101)
        assert read.refused(bytes(data), "u-1.zip").startswith("is damaged: ")

    def test_a_zip_that_needs_a_password(self, read: Reading) -> None:
        data = bytearray(zip_of({"u/a": b"1"}))
        directory = data.index(b"PK\x01\x02")
        for flags in (6, directory + 8):
            struct.pack_into("<H", data, flags, 1)
        assert read.refused(bytes(data), "u-1.zip").startswith("is damaged: ")

    @pytest.mark.parametrize(
        "members",
        [
            [file("setup.py", b"1")],
            [file("one/a", b"1"), file("two/b", b"2")],
            [file("upstream-1.0/a", b"1"), file("stray", b"2")],
        ],
    )
    def test_files_outside_the_one_folder(
        self, members: list[tuple[tarfile.TarInfo, bytes]], read: Reading
    ) -> None:
        assert "is not in the one folder" in read.refused(tar_gz(members))

    def test_an_archive_without_files(self, read: Reading) -> None:
        assert "it holds no file" in read.refused(tar_gz([]))
        assert "it holds no file" in read.refused(tar_gz([other("u", tarfile.DIRTYPE)]))

    @pytest.mark.parametrize("name", ["u-1-py3-none-any.whl", "u-1.tar.bz2", "u-1.tar", "u-1.exe"])
    def test_other_formats(self, name: str, read: Reading) -> None:
        assert "neither a .tar.gz nor a .zip" in read.refused(sdist(FILES), name)

    def test_a_file_that_inflates_beyond_the_limit(self, read: Reading) -> None:
        bomb = sdist({"bomb": bytes(3_000_000)})
        assert len(bomb) < 10_000
        assert "inflates to more than 1,000,000 bytes" in read.refused(bomb, max_bytes=1_000_000)
        bomb = zip_of({"u/bomb": bytes(3_000_000)})
        assert "inflates to more than" in read.refused(bomb, "u-1.zip", max_bytes=1_000_000)

    def test_many_small_files_that_inflate_beyond_the_limit(self, read: Reading) -> None:
        files = {str(number): bytes(30_000) for number in range(50)}
        assert "inflates to more than" in read.refused(sdist(files), max_bytes=1_000_000)
        members = {f"u/{name}": data for name, data in files.items()}
        assert "inflates" in read.refused(zip_of(members), "u-1.zip", max_bytes=1_000_000)

    def test_headers_that_inflate_beyond_the_limit(self, read: Reading) -> None:
        info, data = file("upstream-1.0/a", b"1")
        info.pax_headers = {"comment": "x" * 3_000_000}
        assert "inflates to more than" in read.refused(tar_gz([(info, data)]), max_bytes=1_000_000)

    def test_members_that_are_left_out_count_as_well(self, read: Reading) -> None:
        hidden = file("upstream-1.0/../bomb", bytes(3_000_000))
        assert "inflates to more than" in read.refused(tar_gz([hidden]), max_bytes=1_000_000)

    def test_a_size_that_is_a_lie(self, read: Reading) -> None:
        info, _ = file("upstream-1.0/a")
        info.size = 8_000_000_000
        header = info.tobuf(tarfile.GNU_FORMAT)
        archive = gzip.compress(header + bytes(10_000))
        assert read.refused(archive).startswith("is damaged: ")

    def test_too_many_files(self, read: Reading) -> None:
        files = {str(number): b"" for number in range(101)}
        assert "has more than 100 files" in read.refused(sdist(files))
        links = [other(f"u/{number}", tarfile.SYMTYPE, "x") for number in range(101)]
        assert "has more than 100 files" in read.refused(tar_gz(links))
