"""Files of tokens, and headers that show one."""

import base64
import hashlib
import os

NEVER = "never"


def line(name, role, token, until=NEVER):
    return f"{name} {role} {hashlib.sha256(token.encode()).hexdigest()} {until}\n"


def write_tokens(path, *lines):
    new = path.with_suffix(".new")
    new.write_text("# name role hash until\n" + "".join(lines))
    os.chmod(new, 0o600)
    new.replace(path)
    return path


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def basic(user, token):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{token}".encode()).decode()}
