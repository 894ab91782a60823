# Compares messages as they were submitted with what arrived, as Python's email reads both: the contents of their parts, decoded, and their subjects.
# Arguments: pairs of files. Prints a line for each difference.
import email
import re
import sys
from email.header import decode_header, make_header


def contents(part, deep):
    if part.get_content_type().startswith("message/"):
        inner = part.get_payload()
        if deep and isinstance(inner, list):
            return [text for one in inner for text in contents(one, deep)]
        text = inner[0].as_bytes() if isinstance(inner, list) else str(inner).encode("utf-8", "surrogateescape")
        return [re.sub(rb"\s+", b"", text)]
    if part.is_multipart():
        return [text for child in part.get_payload() for text in contents(child, deep)]
    decoded = part.get_payload(decode=True) or b""
    return [re.sub(rb"\s+", b"", decoded)]


def subject(message):
    try:
        return re.sub(r"\s+", " ", str(make_header(decode_header(message["Subject"] or "")))).strip()
    except Exception:
        return None


def readable(octets):
    # Python ends the header at a blank before a colon.
    head, separator, body = octets.partition(b"\r\n\r\n")
    return re.sub(rb"(?m)^([!-9;-~]+)[ \t]+:", rb"\1:", head) + separator + body


for before, after in zip(sys.argv[1::2], sys.argv[2::2]):
    with open(before, "rb") as file:
        submitted = email.message_from_bytes(readable(file.read()))
    with open(after, "rb") as file:
        arrived = email.message_from_bytes(file.read())
    # An attached message either has encoded parts of its own or is a file of the same octets.
    if all(contents(submitted, deep) != contents(arrived, deep) for deep in (False, True)):
        print(before, "contents differ")
    if subject(submitted) is not None and subject(submitted) != subject(arrived):
        print(before, "subjects differ")
