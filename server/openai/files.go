package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"path"
	"strings"

	"github.com/pexctl/pex/server/access"
	"github.com/pexctl/pex/server/agents"
)

// content is a part of a message's content, of chat completions or of responses.
type content struct {
	Type string `json:"type"`
	Text string `json:"text"`

	ImageURL imageURL  `json:"image_url"`
	File     *filePart `json:"file"` // of chat completions
	filePart           // of responses
}

// filePart is a file in a part.
type filePart struct {
	Filename string `json:"filename"`
	FileData string `json:"file_data"`
	FileID   string `json:"file_id"`
	FileURL  string `json:"file_url"`
}

// imageURL is the address of an image: an object in chat completions, a text in responses.
type imageURL string

// UnmarshalJSON implements json.Unmarshaler.
func (u *imageURL) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte("{")) {
		var object struct {
			URL string `json:"url"`
		}
		err := json.Unmarshal(b, &object)
		*u = imageURL(object.URL)
		return err
	}
	var text *string
	err := json.Unmarshal(b, &text)
	if text != nil {
		*u = imageURL(*text)
	}
	return err
}

// file is a file that a message contains.
type file struct {
	name    string // "" = none is given
	media   string
	content []byte
	isImage bool
}

// file returns the file of a part, whose place in the request is param. It returns nil for a
// part of another type.
func (p *content) file(param string) (*file, error) {
	switch p.Type {
	case "image_url", "input_image":
		f, err := readFile(param+".image_url", string(p.ImageURL), p.FileID)
		if f != nil {
			f.isImage = true
		}
		return f, err
	case "file", "input_file":
		given := &p.filePart
		if p.File != nil {
			given, param = p.File, param+".file"
		}
		if given.FileURL != "" {
			return nil, invalid(param+".file_url", unsupported, "%s.file_url: this server fetches no addresses; send file_data", param)
		}
		f, err := readFile(param+".file_data", given.FileData, given.FileID)
		if f != nil {
			f.name = given.Filename
		}
		return f, err
	}
	return nil, nil
}

// readFile reads a data URL.
func readFile(param, url, id string) (*file, error) {
	switch {
	case url == "" && id != "":
		return nil, invalid(param, unsupported, "%s: there are no uploaded files here; send the content as a data: URL", param)
	case url == "":
		return nil, invalid(param, "missing_required_parameter", "missing %s", param)
	case !strings.HasPrefix(url, "data:"):
		return nil, invalid(param, unsupported, "%s: this server fetches no addresses; send the content as a data: URL, such as data:image/png;base64,...", param)
	}
	head, data, found := strings.Cut(strings.TrimPrefix(url, "data:"), ",")
	media, isBase64 := strings.CutSuffix(head, ";base64")
	if !found || !isBase64 {
		return nil, invalid(param, "invalid_value", "%s: a data: URL must have base64, such as data:image/png;base64,...", param)
	}
	content, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(content) == 0 {
		return nil, invalid(param, "invalid_value", "%s: the data: URL has no valid base64", param)
	}
	media, _, _ = mime.ParseMediaType(media)
	return &file{media: media, content: content}, nil
}

// extensions are those of the types that models accept.
var extensions = map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "application/pdf": ".pdf"}

// fileName returns the name of the n-th file, from 1, that no other one of the request has.
func (f *file) fileName(n int, taken map[string]bool) string {
	name := path.Base(strings.ReplaceAll(f.name, `\`, "/"))
	if f.name == "" {
		kind := "file"
		if f.isImage {
			kind = "image"
		}
		name = fmt.Sprintf("%s-%d%s", kind, n, extensions[f.media])
	}
	if taken[name] {
		name = fmt.Sprintf("%d-%s", n, name)
	}
	taken[name] = true
	return name
}

// store stores the files of a question for its run.
func store(c *access.Client, files []*file) (out []agents.File, err error) {
	taken := map[string]bool{}
	for i, f := range files {
		info, _, err := c.StoreFile(bytes.NewReader(f.content))
		if err != nil {
			return nil, err
		}
		out = append(out, agents.File{Name: f.fileName(i+1, taken), Artifact: info.SHA256})
	}
	return out, nil
}

// noFiles rejects files with a message to a run that exists.
func noFiles(param string, files []*file) error {
	if len(files) == 0 {
		return nil
	}
	return invalid(param, unsupported, "%s: files can be given to a new run only, and this message goes to one that exists; send text", param)
}
