"""What is printed for a person at a terminal.

In come documents, findings with the texts of their files, and how much is to be told; out go lines, coloured
or not, which say the same without colour. Commands call it, and `formats.py`.
"""
