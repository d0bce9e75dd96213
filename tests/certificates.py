"""Two certificates, made for these tests: nobody has their keys."""

OKTA = """\
-----BEGIN CERTIFICATE-----
MIIBRDCB96ADAgECAhQp4/reuArns1Zmrmz5uMZmHviKgzAFBgMrZXAwFzEVMBMG
A1UEAwwMb2t0YS5leGFtcGxlMCAXDTI2MTEyMzA2NDcwMFoYDzIxMjYxMDMwMDY0
NzAwWjAXMRUwEwYDVQQDDAxva3RhLmV4YW1wbGUwKjAFBgMrZXADIQD4KB6e4+f2
27usuupv9pt1vphPgPxMJxdhYo0D6KvTpKNTMFEwHQYDVR0OBBYEFEFN9L0yqQPw
9ZvEzfRZ7rEj39xMMB8GA1UdIwQYMBaAFEFN9L0yqQPw9ZvEzfRZ7rEj39xMMA8G
A1UdEwEB/wQFMAMBAf8wBQYDK2VwA0EAayYg03Xwp/bojtrSFRnp8mOAz0fpdrkZ
qcWkBd41XnTH8v9kRGHKd6Ks9fiok4V3N97E8ZNsBChIVWKca68vAw==
-----END CERTIFICATE-----
"""

AZURE = """\
-----BEGIN CERTIFICATE-----
MIIBRjCB+aADAgECAhR4aki1riHfP7N3JW8qzBgP/OoxXjAFBgMrZXAwGDEWMBQG
A1UEAwwNYXp1cmUuZXhhbXBsZTAgFw0yNjExMjMwNjQ3MDBaGA8yMTI2MTAzMDA2
NDcwMFowGDEWMBQGA1UEAwwNYXp1cmUuZXhhbXBsZTAqMAUGAytlcAMhAArQ3EYr
qWfsQk8Nyn/WzV2AlZPMaWpZoDHlnvzavxS1o1MwUTAdBgNVHQ4EFgQU1K8KPOCD
EScfziMc/aTuivw5lXAwHwYDVR0jBBgwFoAU1K8KPOCDEScfziMc/aTuivw5lXAw
DwYDVR0TAQH/BAUwAwEB/zAFBgMrZXADQQDzLNWwT7FbEMZcWylNsFsr8CMeUuWu
hTVpAwNb5Mf/wB6IWUIAXU7Ti6j48w97De+UB/kHPCTKcE2udGFs/1cD
-----END CERTIFICATE-----
"""


def rewrapped(pem: str) -> str:
    """Return the same certificate with other line breaks."""
    first, *lines, last = pem.split("\n")[:-1]
    return "\n".join((first, "".join(lines), last, ""))
