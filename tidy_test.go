package rlbench_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/rlbench/rlbench"

// The house, as a table: what each package may import of this module. A package
// that is not here may not exist. The root is written ".".
var plan = map[string][]string{
	".":                  {},
	"cmd/rlbench":        {"*"},
	"property":           {"*"},
	"targets/targettest": {"*"},
	"scenarios":          {"."},
	"oracle":             {"."},
	"reports":            {"."},
	"internal/driver":    {"."},
	"internal/evidence":  {"."},
	"internal/logs":      {"."},
	"internal/serve":     {"."},
	"targets":            {"."},
	"targets/service":    {".", "targets"},
	"targets/memory":     {".", "targets"},
	"targets/redis":      {".", "targets"},
	"targets/broken":     {".", "targets"},
	".ci":                {}, // a tool of the build, not of the product
}

// Tests may see more: the conformance suite, and the families it is run on.
var planForTests = map[string][]string{
	"targets/memory": {"targets/targettest"},
	"targets/redis":  {"targets/targettest"},
}

// Each heavy client stays behind one package; nothing else may import it.
var heavy = map[string]string{
	"github.com/testcontainers/testcontainers-go": "targets/service",
	"github.com/alicebob/miniredis/v2":            "targets/service targets/targettest",
	"github.com/redis/go-redis/v9":                "targets/redis targets/service targets/targettest",
	"github.com/parquet-go/parquet-go":            "internal/evidence",
	"github.com/HdrHistogram/hdrhistogram-go":     "internal/driver internal/evidence cmd/rlbench",
	"github.com/goccy/go-yaml":                    "scenarios",
	"github.com/spf13/cobra":                      "cmd/rlbench",
}

// The root and the oracle live on the standard library alone.
var standardLibraryOnly = map[string]bool{".": true, "oracle": true}

const (
	fileLinesMax     = 500
	functionLinesMax = 70
)

type source struct {
	dir, name string // the package's folder below the root, the file's path
	file      *ast.File
	set       *token.FileSet
	lines     int
	test      bool
}

func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); base != "." && base != ".ci" && (strings.HasPrefix(base, ".") || base == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, source{
			dir: path.Dir(filepath.ToSlash(name)), name: filepath.ToSlash(name), file: file, set: set,
			lines: strings.Count(string(text), "\n"), test: strings.HasSuffix(name, "_test.go"),
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("only %d source files found: the test looks in the wrong place", len(all))
	}
	return all
}

func TestImportsKeepThePlan(t *testing.T) {
	for _, s := range sources(t) {
		allowed, known := plan[s.dir]
		if !known {
			t.Errorf("%s: package %s is not in the plan of the house", s.name, s.dir)
			continue
		}
		if s.test {
			allowed = append(append([]string{s.dir}, allowed...), planForTests[s.dir]...)
		}
		for _, spec := range s.file.Imports {
			checkImport(t, s, strings.Trim(spec.Path.Value, `"`), allowed)
		}
	}
}

func checkImport(t *testing.T, s source, imported string, allowed []string) {
	t.Helper()
	if !s.test {
		for client, home := range heavy {
			if (imported == client || strings.HasPrefix(imported, client+"/")) && !contains(strings.Fields(home), s.dir) {
				t.Errorf("%s imports %s, which stays behind %s", s.name, imported, home)
			}
		}
		if first, _, _ := strings.Cut(imported, "/"); standardLibraryOnly[s.dir] && strings.Contains(first, ".") && !strings.HasPrefix(imported, module) {
			t.Errorf("%s imports %s: this package lives on the standard library alone", s.name, imported)
		}
	}
	if imported != module && !strings.HasPrefix(imported, module+"/") {
		return
	}
	inside := strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
	if inside == "" {
		inside = "."
	}
	if !contains(allowed, "*") && !contains(allowed, inside) {
		t.Errorf("%s imports %s; the plan allows it only %v", s.name, inside, allowed)
	}
}

func contains(list []string, wanted string) bool {
	for _, s := range list {
		if s == wanted {
			return true
		}
	}
	return false
}

func TestFilesAndFunctionsStaySmall(t *testing.T) {
	for _, s := range sources(t) {
		if s.lines > fileLinesMax {
			t.Errorf("%s has %d lines; %d is the most", s.name, s.lines, fileLinesMax)
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			length := s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1
			if length > functionLinesMax {
				t.Errorf("%s: %s has %d lines; %d is the most", s.name, f.Name.Name, length, functionLinesMax)
			}
		}
	}
}

// bans are calls that have no place outside the named packages.
var bans = []struct {
	pkg, name, why string
	allowed        func(s source) bool
}{
	{"time", "Sleep", "wait for an event instead", func(s source) bool { return !s.test && s.dir == "internal/driver" }},
	{"os", "Exit", "only cmd exits", func(s source) bool { return s.dir == "cmd/rlbench" || s.dir == ".ci" || s.test }},
	{"fmt", "Println", "only cmd prints", func(s source) bool { return s.test }},
	{"fmt", "Printf", "only cmd prints, and to the writer it was given", func(s source) bool { return s.test }},
	{"context", "TODO", "pass the context down", func(source) bool { return false }},
}

func TestBannedCalls(t *testing.T) {
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := selector.X.(*ast.Ident)
			if !ok {
				return true
			}
			for _, b := range bans {
				if of.Name == b.pkg && selector.Sel.Name == b.name && !b.allowed(s) {
					t.Errorf("%s: %s.%s: %s", s.set.Position(n.Pos()), b.pkg, b.name, b.why)
				}
			}
			return true
		})
	}
}

// The oracle is pure: no clock, network, goroutine or randomness, so that the same
// evidence gives the same verdict on every machine.
func TestOracleIsPure(t *testing.T) {
	impure := []string{"math/rand", "math/rand/v2", "crypto/rand", "net", "net/http", "os", "os/exec", "syscall", "sync", "sync/atomic", "context", "log"}
	clock := []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}
	for _, s := range sources(t) {
		if s.test || s.dir != "oracle" && s.dir != "." {
			continue
		}
		for _, spec := range s.file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if contains(impure, imported) && !(s.dir == "." && imported == "context") {
				t.Errorf("%s imports %s", s.name, imported)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine", s.set.Position(n.Pos()))
			case *ast.SelectorExpr:
				if of, ok := n.X.(*ast.Ident); ok && of.Name == "time" && contains(clock, n.Sel.Name) {
					t.Errorf("%s reads a clock: time.%s", s.set.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	}
}

// A variable of a package that begins without a value is there to be written to:
// state that every user of the package would share.
func TestNoPackageState(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR || g.Doc != nil && strings.Contains(g.Doc.Text()+directives(g.Doc), "go:embed") {
				continue
			}
			for _, spec := range g.Specs {
				if v := spec.(*ast.ValueSpec); len(v.Values) == 0 && v.Names[0].Name != "_" {
					t.Errorf("%s: %s is state of its package", s.set.Position(v.Pos()), v.Names[0].Name)
				}
			}
		}
	}
}

// directives are the comments that Text leaves out, such as go:embed.
func directives(doc *ast.CommentGroup) string {
	var all strings.Builder
	for _, c := range doc.List {
		all.WriteString(c.Text)
	}
	return all.String()
}

func TestNoInitFunctions(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: init runs before anybody asked for it", s.set.Position(f.Pos()))
			}
		}
	}
}

func TestExportedNamesAreExplained(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.file.Name.Name == "main" {
			continue
		}
		for _, d := range s.file.Decls {
			explainDecl(t, s, d)
		}
	}
}

func explainDecl(t *testing.T, s source, d ast.Decl) {
	t.Helper()
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			t.Errorf("%s: %s has no comment", s.set.Position(d.Pos()), d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() && d.Doc == nil && spec.Doc == nil {
					t.Errorf("%s: %s has no comment", s.set.Position(spec.Pos()), spec.Name.Name)
				}
			case *ast.ValueSpec:
				if spec.Names[0].IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
					t.Errorf("%s: %s has no comment", s.set.Position(spec.Pos()), spec.Names[0].Name)
				}
			}
		}
	}
}

// exportedReceiver reports whether the method's type is one that others see.
func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	kind := f.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if index, ok := kind.(*ast.IndexExpr); ok {
		kind = index.X
	}
	name, ok := kind.(*ast.Ident)
	return ok && name.IsExported()
}
