package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/big"
	"os"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// profileFacts describes a pprof, as google/pprof reads it.
type profileFacts struct {
	Types   []string // name/unit
	Default string
	Rows    int
	// Sum adds up all values of all types.
	Sum string
	// Digest covers the stacks with their labels and values, in any order, and what belongs to the whole profile.
	Digest string
	// Functions are those that occur in some samples but not in all of them, the most frequent first.
	Functions []string
	// Leaf is the function at the leaf of the most samples.
	Leaf string
	// Labels are key=value pairs, the most frequent first; Numbers are keys with values and units.
	Labels  []string
	Numbers []number
}

type number struct {
	Key, Unit string
	Value     int64
}

const most = 12

func facts(args []string) (any, error) {
	data, err := os.ReadFile(args[0])
	if err != nil {
		return nil, err
	}
	p, err := profile.ParseData(data)
	if err != nil {
		return nil, err
	}
	// Encoded once, so that legacy formats have the same empty fields as pprofs.
	p = p.Copy()
	found := profileFacts{Default: p.DefaultSampleType, Rows: len(p.Sample), Digest: digest(p)}
	for _, of := range p.SampleType {
		found.Types = append(found.Types, of.Type+"/"+of.Unit)
	}
	sum := new(big.Int)
	functions, leaves, labels := map[string]int{}, map[string]int{}, map[string]int{}
	for _, sample := range p.Sample {
		for _, value := range sample.Value {
			sum.Add(sum, big.NewInt(value))
		}
		names := frames(sample)
		if len(names) > 0 {
			leaves[names[0]]++
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			functions[name]++
		}
		for key, values := range sample.Label {
			labels[key+"="+strings.Join(values, ",")]++
		}
		for key, values := range sample.NumLabel {
			unit := ""
			if units := sample.NumUnit[key]; len(units) > 0 {
				unit = units[0]
			}
			found.Numbers = append(found.Numbers, number{key, unit, values[0]})
		}
	}
	maps.DeleteFunc(functions, func(_ string, count int) bool { return count == len(p.Sample) })
	slices.SortFunc(found.Numbers, func(a, b number) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Unit, b.Unit))
	})
	found.Numbers = slices.Compact(found.Numbers)
	found.Sum, found.Functions, found.Labels = sum.String(), frequent(functions), frequent(labels)
	if leaf := frequent(leaves); len(leaf) > 0 {
		found.Leaf = leaf[0]
	}
	return found, nil
}

func frames(sample *profile.Sample) []string {
	var names []string
	for _, location := range sample.Location {
		for _, line := range location.Line {
			if line.Function != nil && line.Function.Name != "" {
				names = append(names, line.Function.Name)
			}
		}
	}
	return names
}

func frequent(counts map[string]int) []string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return names[:min(most, len(names))]
}

// digest hashes everything that a reader of the profile can see, but ids and the order of rows.
func digest(p *profile.Profile) string {
	sums := map[string][]int64{}
	for _, sample := range p.Sample {
		var key strings.Builder
		for _, location := range sample.Location {
			fmt.Fprintf(&key, "%#x %t", location.Address, location.IsFolded)
			if mapping := location.Mapping; mapping != nil {
				fmt.Fprintf(&key, " [%x %x %x %q %q]", mapping.Start, mapping.Limit, mapping.Offset, mapping.File, mapping.BuildID)
			}
			for _, line := range location.Line {
				function := profile.Function{}
				if line.Function != nil {
					function = *line.Function
				}
				fmt.Fprintf(&key, " %q %q %q %d %d:%d", function.Name, function.SystemName, function.Filename,
					function.StartLine, line.Line, line.Column)
			}
			key.WriteString(";")
		}
		// Maps print in the order of their keys.
		fmt.Fprintf(&key, "%q %v %q", sample.Label, sample.NumLabel, sample.NumUnit)
		values, isKnown := sums[key.String()]
		if !isKnown {
			values = make([]int64, len(p.SampleType))
			sums[key.String()] = values
		}
		for column, value := range sample.Value {
			values[column] += value
		}
	}
	var text bytes.Buffer
	for _, of := range p.SampleType {
		fmt.Fprintf(&text, "%q %q\n", of.Type, of.Unit)
	}
	period := profile.ValueType{}
	if p.PeriodType != nil {
		period = *p.PeriodType
	}
	fmt.Fprintf(&text, "%q %q %d\n%d %d\n%q %q %q\n", period.Type, period.Unit, p.Period, p.TimeNanos, p.DurationNanos,
		p.Comments, p.DropFrames, p.KeepFrames)
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&text, "%s %d\n", key, sums[key])
	}
	return fmt.Sprintf("%x", sha256.Sum256(text.Bytes()))
}
