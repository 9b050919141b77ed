// Command oracle answers requests with google/pprof and pdata: a JSON object a line on stdin, and one on stdout.
// One process answers all of them, because starting pprof takes longer than most reports.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// request names an operation and its arguments.
type request struct {
	Op   string
	Args []string
}

var operations = map[string]func([]string) (any, error){
	"pprof": report,
	"facts": facts,
	"pdata": pdata,
}

func main() {
	input := bufio.NewReader(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		if err := json.Unmarshal(line, &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		answer := map[string]any{}
		if result, err := answerTo(asked); err != nil {
			answer["error"] = err.Error()
		} else {
			answer["result"] = result
		}
		if err := output.Encode(answer); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
}

// answerTo turns a panic into an error: one bad payload must not end the others.
func answerTo(asked request) (result any, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	operation, known := operations[asked.Op]
	if !known {
		return nil, fmt.Errorf("unknown operation %q", asked.Op)
	}
	return operation(asked.Args)
}
