package main

import (
	"math/big"
	"os"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"
)

// payloadFacts describes an OTLP payload, as the Collector reads it.
type payloadFacts struct {
	Rows int
	Sum  string
}

// pdata reads a payload, in protobuf or JSON, and writes it to other files: in protobuf, then in JSON.
func pdata(args []string) (any, error) {
	data, err := os.ReadFile(args[0])
	if err != nil {
		return nil, err
	}
	var profiles pprofile.Profiles
	if strings.HasSuffix(args[0], ".json") {
		profiles, err = (&pprofile.JSONUnmarshaler{}).UnmarshalProfiles(data)
	} else {
		profiles, err = (&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(data)
	}
	if err != nil {
		return nil, err
	}
	marshalers := []pprofile.Marshaler{&pprofile.ProtoMarshaler{}, &pprofile.JSONMarshaler{}}
	for row, path := range args[1:] {
		written, err := marshalers[row].MarshalProfiles(profiles)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, written, 0o600); err != nil {
			return nil, err
		}
	}
	return payloadFacts{profiles.SampleCount(), sum(profiles).String()}, nil
}

func sum(profiles pprofile.Profiles) *big.Int {
	sum := new(big.Int)
	for _, resource := range profiles.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				for _, sample := range profile.Samples().All() {
					for _, value := range sample.Values().All() {
						sum.Add(sum, big.NewInt(value))
					}
				}
			}
		}
	}
	return sum
}
