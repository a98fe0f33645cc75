package payload

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
)

// A sealed body is salt, nonce, ciphertext and tag. Each has a key of its own, derived from the key of the ring and the
// salt, because nonces of 12 random bytes are safe for only 2^32 messages per key.
const (
	saltSize  = 16
	nonceSize = 12
	tagSize   = 16
)

// aead returns the cipher of a body with this salt.
func (k *key) aead(salt []byte) (cipher.AEAD, error) {
	derived, err := hkdf.Key(sha256.New, k.secret, salt, "pex temporal payload 1", keySize)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal encrypts a body. associated is authenticated with it.
func (k *key) seal(body, associated []byte) ([]byte, error) {
	out := make([]byte, saltSize+nonceSize, saltSize+nonceSize+len(body)+tagSize)
	if _, err := rand.Read(out); err != nil {
		return nil, err
	}
	a, err := k.aead(out[:saltSize])
	if err != nil {
		return nil, err
	}
	return a.Seal(out, out[saltSize:], body, associated), nil
}

// open decrypts what seal returned. ok is false if it or associated was changed.
func (k *key) open(sealed, associated []byte) (body []byte, ok bool) {
	if len(sealed) < saltSize+nonceSize+tagSize {
		return nil, false
	}
	a, err := k.aead(sealed[:saltSize])
	if err != nil {
		return nil, false
	}
	body, err = a.Open(nil, sealed[saltSize:saltSize+nonceSize], sealed[saltSize+nonceSize:], associated)
	return body, err == nil
}
