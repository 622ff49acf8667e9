"""Prints known-answers.json: stored hashes as another implementation than ours makes them."""

import base64
import hashlib
import json

SALT = bytes(range(16))


def b64(data):
    return base64.b64encode(data).decode("ascii")


def pbkdf2(password, iterations=1000, salt=SALT, digest="sha512", size=64):
    hashed = hashlib.pbkdf2_hmac(digest, password.encode("utf-8"), salt, iterations, size)
    return f"$pbkdf2${iterations}${b64(salt)}${b64(hashed)}"


def scrypt(password, ln=10, r=8, p=1, salt=SALT, size=64):
    hashed = hashlib.scrypt(
        password.encode("utf-8"), salt=salt, n=2**ln, r=r, p=p, maxmem=2**29, dklen=size
    )
    return f"$scrypt$ln={ln},r={r},p={p}${b64(salt)}${b64(hashed)}"


PASSWORDS = {
    "plain text": "correct horse battery staple",
    "one character": "x",
    "a single space": " ",
    "space around it": "  correct horse  ",
    "letters of several scripts": "naïve café пароль 密码 🔐",
    "é as one code point (NFC)": "caf\u00e9 au lait",
    "é as e and an accent (NFD)": "cafe\u0301 au lait",
    "a ligature": "\ufb01rst and last",
    "1,024 bytes": "0123456789abcdef" * 64,
    "1,024 bytes of two-byte letters": "é" * 512,
    "72 bytes and an A": "k" * 72 + "A",
    "72 bytes and a B": "k" * 72 + "B",
    "the text of a stored hash": "$pbkdf2$1$AA==$AA==",
}

answers = []


def answer(name, password, stored):
    answers.append({"name": name, "password": password, "stored": stored})


for name, password in PASSWORDS.items():
    answer(f"PBKDF2: {name}", password, pbkdf2(password))
    answer(f"scrypt: {name}", password, scrypt(password))

PLAIN = PASSWORDS["plain text"]
answer("PBKDF2: cost 1", PLAIN, pbkdf2(PLAIN, 2000))
answer("PBKDF2: iterations that no cost has", PLAIN, pbkdf2(PLAIN, 1234))
answer("PBKDF2: SHA-256", PLAIN, pbkdf2(PLAIN, digest="sha256", size=32))
answer("PBKDF2: SHA-256, letters of several scripts", PASSWORDS["letters of several scripts"],
       pbkdf2(PASSWORDS["letters of several scripts"], digest="sha256", size=32))
answer("PBKDF2: a salt of 8 bytes", PLAIN, pbkdf2(PLAIN, salt=bytes(8)))
answer("PBKDF2: a salt of 64 bytes", PLAIN, pbkdf2(PLAIN, salt=bytes(range(64))))
answer("scrypt: a hash of 32 bytes", PLAIN, scrypt(PLAIN, size=32))
answer("scrypt: p = 5", PLAIN, scrypt(PLAIN, p=5))
answer("scrypt: r = 16", PLAIN, scrypt(PLAIN, r=16))
answer("scrypt: RFC 7914 section 12, third vector", "pleaseletmein",
       scrypt("pleaseletmein", ln=14, salt=b"SodiumChloride"))
answer("scrypt: N = 2^17", PLAIN, scrypt(PLAIN, ln=17))
answer("scrypt: N = 2^18", PLAIN, scrypt(PLAIN, ln=18))

print(json.dumps(answers, indent=2, ensure_ascii=True))
