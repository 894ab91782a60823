"""Verifies DKIM signatures by dkimpy. Arguments and output are those of mail-dkim.pl."""

import sys

import dkim

records, domain, *files = sys.argv[1:]
with open(records, encoding="ascii") as lines:
    texts = dict(line.rstrip("\n").split("\t") for line in lines)


def query(name, timeout=5):
    return texts.get(name.decode().rstrip("."), "").encode()


def verdict(message, index):
    """The algorithm and the result of a signature of the domain; None of another's."""
    verifier = dkim.DKIM(message)
    try:
        result = "pass" if verifier.verify(idx=index, dnsfunc=query) else "fail"
    except dkim.DKIMException as error:
        result = f"error ({error})"
    fields = verifier.signature_fields
    return f"{fields[b'a'].decode()} {result}" if fields.get(b"d") == domain.encode() else None


for file in files:
    with open(file, "rb") as handle:
        message = handle.read()
    count = sum(name.lower() == b"dkim-signature" for name, _ in dkim.DKIM(message).headers)
    found = (verdict(message, index) for index in range(count))
    print(file, ", ".join(one for one in found if one is not None))
