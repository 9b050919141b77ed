package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"strings"

	"github.com/google/pprof/driver"
)

// memory is the name of an output that is kept in memory.
const memory = "memory"

// writer keeps a report in memory, or writes it to a file.
type writer struct{ text bytes.Buffer }

type inMemory struct{ *bytes.Buffer }

func (inMemory) Close() error { return nil }

func (w *writer) Open(name string) (io.WriteCloser, error) {
	if name == memory {
		return inMemory{&w.text}, nil
	}
	return os.Create(name)
}

// quiet drops the messages of pprof.
type quiet struct{}

func (quiet) ReadLine(string) (string, error)     { return "", io.EOF }
func (quiet) Print(...any)                        {}
func (quiet) PrintErr(...any)                     {}
func (quiet) IsTerminal() bool                    { return false }
func (quiet) WantBrowser() bool                   { return false }
func (quiet) SetAutoComplete(func(string) string) {}

// pristine has the defaults of the first run: pprof remembers the options of a run as defaults of the next one.
var pristine = map[string]any{}

func first[T any](name string, value T) T {
	if known, ok := pristine[name].(T); ok {
		return known
	}
	pristine[name] = value
	return value
}

// flags implements driver.FlagSet for one run.
type flags struct {
	*flag.FlagSet
	args []string
}

func (f *flags) Bool(name string, value bool, usage string) *bool {
	return f.FlagSet.Bool(name, first(name, value), usage)
}

func (f *flags) Int(name string, value int, usage string) *int {
	return f.FlagSet.Int(name, first(name, value), usage)
}

func (f *flags) Float64(name string, value float64, usage string) *float64 {
	return f.FlagSet.Float64(name, first(name, value), usage)
}

func (f *flags) String(name, value, usage string) *string {
	return f.FlagSet.String(name, first(name, value), usage)
}

func (f *flags) StringList(name, _, usage string) *[]*string {
	list := &[]*string{}
	f.FlagSet.Func(name, usage, func(value string) error {
		*list = append(*list, &value)
		return nil
	})
	return list
}

func (f *flags) ExtraUsage() string   { return "" }
func (f *flags) AddExtraUsage(string) {}

func (f *flags) Parse(func()) []string {
	if err := f.FlagSet.Parse(f.args); err != nil {
		return nil
	}
	return f.Args()
}

// choices are options that keep the value of the last run unless one of them is named.
var choices = [][]string{{"functions", "filefunctions", "files", "lines", "addresses"}, {"flat", "cum"}}

// report runs pprof with these arguments. It returns the text, or "" if they name an output file.
func report(args []string) (any, error) {
	all := []string{"-symbolize=none"}
	for _, names := range choices {
		isNamed := false
		for _, name := range names {
			for _, arg := range args {
				isNamed = isNamed || arg == "-"+name
			}
		}
		if !isNamed {
			all = append(all, "-"+names[0])
		}
	}
	if !strings.Contains(strings.Join(args, "\n"), "-output=") {
		all = append(all, "-output="+memory)
	}
	set := flag.NewFlagSet("pprof", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	out := &writer{}
	err := driver.PProf(&driver.Options{
		Writer:  out,
		UI:      quiet{},
		Flagset: &flags{set, append(all, args...)},
	})
	if err != nil {
		return nil, errors.New(strings.TrimSpace(err.Error()))
	}
	return out.text.String(), nil
}
