"""A real KDC of MIT Kerberos in a folder, on a free port."""

import os
import subprocess

from script.hdfs.cluster import free_port

REALM = "SITE.EXAMPLE"
SBIN = ":/usr/sbin:/sbin"


class Kdc:
    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.path = folder / "krb5.conf"
        self.path.write_text(f"""[libdefaults]
  default_realm = {REALM}
  dns_lookup_kdc = false
  dns_lookup_realm = false
  dns_canonicalize_hostname = false
  rdns = false
  udp_preference_limit = 1
  default_ccache_name = FILE:{folder}/none
[realms]
  {REALM} = {{
    kdc = 127.0.0.1:{self.port}
  }}
[domain_realm]
  localhost = {REALM}
""")
        (folder / "kdc.conf").write_text(f"""[realms]
  {REALM} = {{
    database_name = {folder}/principals
    key_stash_file = {folder}/stash
    kdc_listen = 127.0.0.1:{self.port}
    kdc_tcp_listen = 127.0.0.1:{self.port}
    supported_enctypes = aes256-cts:normal aes128-cts:normal
  }}
[logging]
  kdc = FILE:{folder}/kdc.log
""")
        self.environment = {"KRB5_CONFIG": str(self.path), "KRB5_KDC_PROFILE": str(folder / "kdc.conf")}
        self.run("kdb5_util", "create", "-s", "-r", REALM, "-P", "master")
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            ["krb5kdc", "-n"], env=self.env(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        for line in self.process.stderr:
            if b"starting..." in line:
                return self
        raise AssertionError(f"the KDC did not start: {(self.folder / 'kdc.log').read_text()}")

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process.stderr.close()

    def env(self, **more):
        path = os.environ["PATH"] + SBIN
        return {**os.environ, **self.environment, "PATH": path, **more}

    def run(self, *command, **more):
        done = subprocess.run(
            [str(part) for part in command], env=self.env(**more), capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def keytab(self, name, *principals):
        """A file with their keys, which are new ones if they had some."""
        path = self.folder / f"{name}.keytab"
        for principal in principals:
            known = self.run("kadmin.local", "-r", REALM, "listprincs", principal)
            if principal not in known:
                self.run("kadmin.local", "-r", REALM, "addprinc", "-randkey", principal)
            self.run("kadmin.local", "-r", REALM, "ktadd", "-k", path, principal)
        os.chmod(path, 0o600)
        return path

    def forget(self, principal):
        """It is nobody any more, whatever other tests made of it."""
        self.run("kadmin.local", "-r", REALM, "delprinc", "-force", principal)

    def login(self, name, principal):
        """The environment of somebody who has a ticket."""
        keytab = self.folder / f"{name}.keytab"
        cache = f"FILE:{self.folder}/{name}.cache"
        self.run("kinit", "-k", "-t", keytab, principal, KRB5CCNAME=cache)
        return self.env(KRB5CCNAME=cache)
