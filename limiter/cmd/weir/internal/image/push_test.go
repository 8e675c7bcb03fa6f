package image

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// TestPush: what is pulled is what was pushed, byte for byte, by tag and by
// digest, and what is attached is found from the image. Registries that have no
// list of referrers keep one under a tag.
func TestPush(t *testing.T) {
	for _, format := range Formats {
		for _, referrers := range []bool{true, false} {
			host := newRegistry(t, registry.WithReferrersSupport(referrers))
			_, b := written(t, full(format))
			reference, err := b.Push(t.Context(), host+"/edge/weir:v1.2.3", PushOptions{})
			if err != nil {
				t.Fatal(err)
			}
			digest, err := b.Image.Digest()
			if err != nil {
				t.Fatal(err)
			}
			if want := host + "/edge/weir@" + digest.String(); reference != want {
				t.Errorf("it is said to be %s, want %s", reference, want)
			}
			for _, by := range []string{reference, host + "/edge/weir:v1.2.3"} {
				same(t, pull(t, by), b.Image)
				if got := module(t, pull(t, by)); got != fakeModule("") {
					t.Errorf("%s has a module of %d bytes, want %d", by, len(got), len(fakeModule("")))
				}
			}
			findAttached(t, reference, b)
		}
	}
}

// findAttached looks for what is attached as a tool would, by the image.
func findAttached(t *testing.T, reference string, b *Bundle) {
	t.Helper()
	d, err := name.NewDigest(reference)
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Referrers(d)
	if err != nil {
		t.Fatal(err)
	}
	list, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Manifests) != 2 {
		t.Fatalf("%d are attached, want 2", len(list.Manifests))
	}
	for _, a := range b.Attached {
		digest, err := a.Digest()
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, m := range list.Manifests {
			found = found || m.Digest == digest
		}
		if !found {
			t.Errorf("%s is not attached", digest)
		}
		got := pull(t, d.Context().Name()+"@"+digest.String())
		same(t, got, a)
		if string(document(t, got)) != string(document(t, a)) {
			t.Errorf("%s carries another document", digest)
		}
	}
}

func pull(t *testing.T, reference string) v1.Image {
	t.Helper()
	ref, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	img, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func same(t *testing.T, got, want v1.Image) {
	t.Helper()
	for what, read := range map[string]func(v1.Image) ([]byte, error){"manifest": v1.Image.RawManifest, "configuration": v1.Image.RawConfigFile} {
		a, err := read(got)
		if err != nil {
			t.Fatal(err)
		}
		b, err := read(want)
		if err != nil {
			t.Fatal(err)
		}
		if string(a) != string(b) {
			t.Errorf("the %s is\n%s\nwant\n%s", what, a, b)
		}
	}
}

// TestPushByDigest: a reference may name the digest that the image has, and no
// other.
func TestPushByDigest(t *testing.T) {
	host := newRegistry(t)
	_, b := written(t, full(Compat))
	digest, _ := b.Image.Digest()
	if _, err := b.Push(t.Context(), "oci://"+host+"/weir@"+digest.String(), PushOptions{}); err != nil {
		t.Error(err)
	}
	other := host + "/weir@sha256:" + strings.Repeat("0", 64)
	_, err := b.Push(t.Context(), other, PushOptions{})
	wantError(t, err, `reference "`+other+`": the digest of the image is `+digest.String())
}

// TestTagIsLast: if something cannot be pushed, the tag is where it was.
func TestTagIsLast(t *testing.T) {
	_, b := written(t, full(Compat))
	refused, _ := b.Attached[1].Digest()
	inner := quiet()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, refused.String()) {
			w.WriteHeader(http.StatusInsufficientStorage)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer s.Close()
	repository := strings.TrimPrefix(s.URL, "http://") + "/weir"
	_, err := b.Push(t.Context(), repository+":v1", PushOptions{})
	wantError(t, err, "cannot push to "+repository+": the registry answered 507 Insufficient Storage")
	digest, _ := b.Image.Digest()
	same(t, pull(t, repository+"@"+digest.String()), b.Image)
	tag, err := name.ParseReference(repository + ":v1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Get(tag); err == nil {
		t.Error("the tag is there")
	}
}

// TestReferences that are not understood are quoted, unless they may have a
// password in them.
func TestReferences(t *testing.T) {
	_, b := written(t, full(Compat))
	for _, reference := range []string{"", "weir", "weir:v1", "registry.example.com/weir", "registry.example.com/UPPER:v1", "https://registry.example.com/weir:v1", "registry.example.com/weir@sha256:abc"} {
		_, err := b.Push(t.Context(), reference, PushOptions{})
		wantError(t, err, `reference "`+reference+`": want REGISTRY/REPOSITORY:TAG`)
	}
	for _, scheme := range []string{"", "oci://", "https://", "http://"} {
		_, err := b.Push(t.Context(), scheme+"me:hunter2@registry.example.com/weir:v1", PushOptions{})
		wantError(t, err, "the reference has an @ in the name of its registry: want REGISTRY/REPOSITORY:TAG; credentials are those of docker login")
	}
}
