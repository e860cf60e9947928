{
  "algorithm": "ed25519",
  "signature": "bm90IGEgc2lnbmF0dXJlIG9mIHRoaXMgc3lzdGVt",
  "keyId": "example"
}
