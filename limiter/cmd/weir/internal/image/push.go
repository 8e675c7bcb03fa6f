package image

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// PushOptions say how a registry is reached.
type PushOptions struct {
	// Insecure allows plain HTTP, and certificates that nobody vouches for.
	Insecure bool

	// Retry says when a failed request is tried again; the library's way if it is
	// empty.
	Retry remote.Backoff
}

// Push sends a bundle to where a reference says, and returns the reference of the
// image by its digest. The credentials are those of Docker's configuration.
// The tag is moved last, when everything else is there.
func (b *Bundle) Push(ctx context.Context, reference string, o PushOptions) (string, error) {
	ref, err := parseReference(reference, o.Insecure)
	if err != nil {
		return "", err
	}
	digest, err := b.Image.Digest()
	if err != nil {
		return "", err
	}
	if d, ok := ref.(name.Digest); ok && d.DigestStr() != digest.String() {
		return "", fmt.Errorf("reference %q: the digest of the image is %s", reference, digest)
	}
	auth, err := authn.Resolve(ctx, authn.DefaultKeychain, ref.Context())
	if err != nil {
		return "", fmt.Errorf("cannot read the credentials for %s: %w", ref.Context().RegistryStr(), plainCredentials(err))
	}
	byDigest := ref.Context().Digest(digest.String())
	if err := b.push(ctx, ref, byDigest, auth, o); err != nil {
		return "", fmt.Errorf("cannot push to %s: %w", ref.Context(), plain(err))
	}
	return byDigest.Name(), nil
}

func (b *Bundle) push(ctx context.Context, ref name.Reference, byDigest name.Digest, auth authn.Authenticator, o PushOptions) error {
	options := []remote.Option{remote.WithAuth(auth), remote.WithUserAgent("weir")}
	if o.Retry.Steps != 0 {
		options = append(options, remote.WithRetryBackoff(o.Retry))
	}
	if o.Insecure {
		t := remote.DefaultTransport.(*http.Transport).Clone()
		t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
		options = append(options, remote.WithTransport(t))
	}
	pusher, err := remote.NewPusher(options...)
	if err != nil {
		return err
	}
	send := func(ref name.Reference, img v1.Image) error { return pusher.Push(ctx, ref, img) }
	if err := send(byDigest, b.Image); err != nil {
		return err
	}
	for _, a := range b.Attached {
		digest, err := a.Digest()
		if err != nil {
			return err
		}
		if err := send(ref.Context().Digest(digest.String()), a); err != nil {
			return err
		}
	}
	if ref.Identifier() == byDigest.Identifier() {
		return nil
	}
	return send(ref, b.Image)
}

// parseReference wants a registry and a tag or a digest: an image that lands
// where its author did not say is worse than an error.
func parseReference(reference string, insecure bool) (name.Reference, error) {
	bare := strings.TrimPrefix(reference, "oci://")
	const want = "want REGISTRY/REPOSITORY:TAG"
	host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(bare, "https://"), "http://"), "/")
	if strings.Contains(host, "@") {
		// Not quoted: what is before the @ may be a password.
		return nil, errors.New("the reference has an @ in the name of its registry: " + want + "; credentials are those of docker login")
	}
	options := []name.Option{name.StrictValidation}
	if insecure {
		options = append(options, name.Insecure)
	}
	ref, err := name.ParseReference(bare, options...)
	if err != nil {
		return nil, fmt.Errorf("reference %q: %s", reference, want)
	}
	return ref, nil
}
