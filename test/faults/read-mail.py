# Reads messages by Python's email and prints a line of JSON for each: subject, addresses, leaves and defects. Arguments: files.
import base64
import email
import email.policy
import json
import sys


def leaves(part):
    if part.get_content_type().startswith("message/"):
        payload = part.get_payload()
        inner = payload[0].as_bytes() if isinstance(payload, list) else str(payload).encode("utf-8", "surrogateescape")
        return [leaf(part, inner)]
    if part.is_multipart():
        return [found for child in part.iter_parts() for found in leaves(child)]
    return [leaf(part, part.get_payload(decode=True) or b"")]


def leaf(part, content):
    text = content
    if part.get_content_maintype() == "text" and part.get_content_type() in ("text/plain", "text/html"):
        try:
            text = content.decode(part.get_content_charset("utf-8"), "replace").encode()
        except LookupError:
            pass
    return {
        "type": part.get_content_type(),
        "name": part.get_filename(),
        "disposition": part.get_content_disposition(),
        "content": base64.b64encode(text).decode(),
    }


def defects(part):
    found = [type(defect).__name__ for defect in part.defects]
    for name, value in part.items():
        found += [f"{name}: {type(defect).__name__}" for defect in getattr(value, "defects", [])]
    payload = part.get_payload()
    if isinstance(payload, list):
        found += [defect for child in payload for defect in defects(child)]
    return found


def addresses(message, name):
    return [address.addr_spec for value in message.get_all(name, []) for address in value.addresses]


for name in sys.argv[1:]:
    with open(name, "rb") as file:
        message = email.message_from_binary_file(file, policy=email.policy.default)
    reading = {
        "subject": str(message["subject"] or ""),
        "addresses": {field: addresses(message, field) for field in ("from", "to", "cc")},
        "leaves": leaves(message),
        "defects": defects(message),
    }
    print(json.dumps(reading).encode("ascii", "surrogateescape").decode())
