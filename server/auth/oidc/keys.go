package oidc

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

const (
	maxKeyAge  = time.Hour   // until keys are fetched again, so that the issuer can revoke them
	renewAfter = time.Minute // when that failed
)

// fetchKey is the key of a context with an *error, which keySet sets if it cannot fetch keys:
// the library turns errors of key sets to text.
type fetchKey struct{}

// keySet is the keys of an issuer. The library fetches them when it does not know the key of
// a token; the keySet also fetches them when they are old.
type keySet struct {
	fetch context.Context // of requests to the issuer, with its client
	url   string
	now   func() time.Time

	mu    sync.Mutex
	keys  *oidc.RemoteKeySet
	renew time.Time
}

var _ oidc.KeySet = (*keySet)(nil)

func newKeySet(ctx context.Context, url string, now func() time.Time) *keySet {
	return &keySet{fetch: ctx, url: url, now: now, keys: oidc.NewRemoteKeySet(ctx, url), renew: now().Add(maxKeyAge)}
}

// VerifySignature implements oidc.KeySet.
func (k *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	keys, old := k.current()
	if old {
		fresh := oidc.NewRemoteKeySet(k.fetch, k.url)
		if payload, err := fresh.VerifySignature(ctx, token); !isFetchError(err) {
			k.replace(fresh)
			return payload, err
		}
	}
	payload, err := keys.VerifySignature(ctx, token)
	if failed, ok := ctx.Value(fetchKey{}).(*error); ok && isFetchError(err) {
		*failed = err
	}
	return payload, err
}

// current returns the keys, and whether the caller must fetch them again.
func (k *keySet) current() (keys *oidc.RemoteKeySet, old bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if old = !k.now().Before(k.renew); old {
		k.renew = k.now().Add(renewAfter) // for one caller, and if it fails
	}
	return k.keys, old
}

func (k *keySet) replace(keys *oidc.RemoteKeySet) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys, k.renew = keys, k.now().Add(maxKeyAge)
}

// isFetchError reports whether an error of a RemoteKeySet is about fetching keys: only those
// wrap another error.
func isFetchError(err error) bool { return errors.Unwrap(err) != nil }
