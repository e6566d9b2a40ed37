"""A CA made by openssl."""

import os
import subprocess


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Authority:
    """A CA in a folder, which signs certificates; each is NAME.pem with NAME.key."""

    def __init__(self, folder, name="ca"):
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self.pem, self.key = folder / f"{name}.pem", folder / f"{name}.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", 2,
                "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.pem)  # fmt: skip
        (folder / "serials").write_text("01\n")
        (folder / "index").write_text("")
        (folder / "ca.conf").write_text(
            f"[ca]\ndefault_ca=x\n[x]\ndatabase={folder}/index\ncertificate={self.pem}\nprivate_key={self.key}\n"
            "default_md=sha256\ndefault_crl_days=2\n"
        )

    def sign(self, name, alternative=None, days=2):
        """(certificate, key)"""
        pem, key, request = (self.folder / f"{name}.{end}" for end in ("pem", "key", "csr"))
        more = ["-addext", f"subjectAltName={alternative}"] if alternative else []
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                "-subj", f"/CN={name}", *more, "-keyout", key, "-out", request)  # fmt: skip
        openssl("x509", "-req", "-in", request, "-CA", self.pem, "-CAkey", self.key, "-days", days,
                "-CAserial", self.folder / "serials", "-copy_extensions", "copy", "-out", pem)  # fmt: skip
        os.chmod(key, 0o600)
        return pem, key

    def revoke(self, *names, days=2):
        crl = self.folder / "crl.pem"
        for name in names:
            openssl("ca", "-config", self.folder / "ca.conf", "-revoke", self.folder / f"{name}.pem")
        openssl("ca", "-config", self.folder / "ca.conf", "-gencrl", "-crldays", days, "-out", crl)
        return crl
