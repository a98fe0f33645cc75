package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// curl is a stand-in for the program with the flags that the docs use, so that their test
// needs no curl.
func curl() {
	if err := curlWith(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "curl:", err)
		os.Exit(7)
	}
}

// curlCall is a command line of curl.
type curlCall struct {
	method, url, data, output string
	header                    http.Header
	showHeader                bool
}

func curlWith(args []string, stdout io.Writer) error {
	c, err := parseCurl(args)
	if err != nil {
		return err
	}
	req, err := http.NewRequest(c.method, c.url, strings.NewReader(c.data))
	if err != nil {
		return err
	}
	req.Header = c.header
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if c.showHeader {
		fmt.Fprintf(stdout, "%s %s\n", res.Proto, res.Status)
		for _, name := range slices.Sorted(maps.Keys(res.Header)) {
			fmt.Fprintf(stdout, "%s: %s\n", name, strings.Join(res.Header[name], ", "))
		}
		fmt.Fprintln(stdout)
	}
	if c.output != "" {
		file, err := os.Create(c.output)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, res.Body)
		return errors.Join(err, file.Close())
	}
	_, err = io.Copy(stdout, res.Body)
	return err
}

// parseCurl parses the arguments. Short flags without a value may be combined: -sN.
func parseCurl(args []string) (*curlCall, error) {
	c := &curlCall{header: http.Header{}}
	for len(args) > 0 {
		flag := args[0]
		args = args[1:]
		switch {
		case !strings.HasPrefix(flag, "-"):
			if c.url != "" {
				return nil, fmt.Errorf("two addresses: %s and %s", c.url, flag)
			}
			c.url = flag
			continue
		case strings.Trim(flag, "-sSNi") == "":
			c.showHeader = c.showHeader || strings.Contains(flag, "i")
			continue
		case len(args) == 0:
			return nil, fmt.Errorf("flag %s has no value", flag)
		}
		if err := c.set(flag, args[0]); err != nil {
			return nil, err
		}
		args = args[1:]
	}
	if c.url == "" {
		return nil, errors.New("no address")
	}
	if !strings.Contains(c.url, "://") {
		c.url = "http://" + c.url
	}
	return c, nil
}

// set sets a flag with a value.
func (c *curlCall) set(flag, value string) error {
	switch flag {
	case "-X":
		c.method = value
	case "-o":
		c.output = value
	case "-H":
		name, text, ok := strings.Cut(value, ":")
		if !ok {
			return fmt.Errorf("header %q has no colon", value)
		}
		c.header.Set(name, strings.TrimSpace(text))
	case "-F":
		return c.form(value)
	case "-d", "--data", "--json":
		if file, ok := strings.CutPrefix(value, "@"); ok {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			value = string(text)
		}
		c.data += value
		if c.method == "" {
			c.method = http.MethodPost
		}
		kind := "application/x-www-form-urlencoded"
		if flag == "--json" {
			kind = "application/json"
			setMissing(c.header, "Accept", kind)
		}
		setMissing(c.header, "Content-Type", kind)
	default:
		return fmt.Errorf("unknown flag %s", flag)
	}
	return nil
}

// form sets the body to a form with one file: NAME=@FILE.
func (c *curlCall) form(value string) error {
	name, file, ok := strings.Cut(value, "=@")
	if !ok || c.data != "" {
		return fmt.Errorf("form %q is not one file", value)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var body strings.Builder
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile(name, file)
	if err == nil {
		_, err = part.Write(text)
	}
	if err = errors.Join(err, form.Close()); err != nil {
		return err
	}
	c.data, c.method = body.String(), http.MethodPost
	c.header.Set("Content-Type", form.FormDataContentType())
	return nil
}

func setMissing(h http.Header, name, value string) {
	if h.Get(name) == "" {
		h.Set(name, value)
	}
}

func TestCurlRejectsUnknownFlags(t *testing.T) {
	for _, args := range [][]string{{"-k", "http://x"}, {"--fail", "x"}, {"http://x", "-H"}, {"-s"}, {"http://x", "http://y"}} {
		if err := curlWith(args, io.Discard); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
