"""Tests in a browser, which is one package so that they share a browser and a server, and no other test does."""
