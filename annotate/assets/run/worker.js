/*
 * One run of one script on Pyodide, in a fresh interpreter. The page ends this worker when the run
 * is over or its reader has had enough; the next run has another.
 *
 * It is told, with all addresses absolute:
 *   {prepare: {base, wheels, integrity}}        load Pyodide and numpy
 *   {run: {archive, folder, script, code}}      then run this
 * and tells:
 *   {kind: "stage", stage}                  what is being loaded: python, numpy or source
 *   {kind: "running", python, numpy}        the script has begun
 *   {kind: "output", stream, text}          "stdout" or "stderr"
 *   {kind: "flood"}                         it has printed too much, the rest is left out
 *   {kind: "done", status, seconds}         it ended; 0 is success
 *   {kind: "failed", stage, message}        it could not be run
 */
"use strict";

const HOME = "/experiments";
const MAX_CHARACTERS = 200000;
const MAX_WRITES = 10000;

// As the interpreter does with a script that is run by hand: the script's folder stands first on
// the path, what a traceback shows begins at the script, exit handlers run, streams are flushed.
const PYTHON = `
import atexit, os, sys, traceback, types

def run(path):
    folder = os.path.dirname(path)
    os.makedirs(${JSON.stringify(`${HOME}/work`)}, exist_ok=True)
    os.chdir(${JSON.stringify(`${HOME}/work`)})
    sys.path.insert(0, folder)
    sys.argv = [path]
    sys.dont_write_bytecode = True
    sys.stdout.reconfigure(line_buffering=True)
    sys.stderr.reconfigure(line_buffering=True)
    main = types.ModuleType("__main__")
    main.__file__ = path
    sys.modules["__main__"] = main
    status = 0
    try:
        with open(path, encoding="utf-8") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        exec(code, main.__dict__)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
    except BaseException as error:
        status = 1
        traceback.print_exception(error.with_traceback(error.__traceback__.tb_next))
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return status
`;

const VERSIONS = `
import importlib.metadata, platform
[platform.python_version(), importlib.metadata.version("numpy")]
`;

let stage = "python";
let prepared = null;

self.onmessage = async ({ data }) => {
  try {
    if (data.prepare) {
      const { integrity } = data.prepare;
      prepared = Promise.race([watchFetches(integrity), prepare(data.prepare)]);
    }
    const pyodide = await prepared;
    if (data.run) await run(pyodide, data.run);
  } catch (error) {
    postMessage({ kind: "failed", stage, message: String(error?.message ?? error) });
  }
};

async function prepare({ base, wheels, integrity }) {
  enter("python");
  for (const name of ["pyodide.js", "pyodide.asm.js"]) await loadScript(base + name, integrity);
  const pyodide = await loadPyodide({
    indexURL: base,
    env: { HOME, LANG: "C.UTF-8", PYTHONHASHSEED: "0", TZ: "UTC" },
  });
  enter("numpy");
  const quiet = () => {};
  await pyodide.loadPackage(wheels, { messageCallback: quiet, errorCallback: quiet });
  return pyodide;
}

async function run(pyodide, { archive, folder, script, code }) {
  enter("source");
  pyodide.FS.mkdirTree(HOME);
  pyodide.unpackArchive(await bytesOf(archive), "zip", { extractDir: HOME });
  const path = `${HOME}/${folder}/${script}`;
  pyodide.FS.writeFile(path, code);
  const [python, numpy] = pyodide.runPython(VERSIONS).toJs();
  pyodide.runPython(PYTHON);
  const main = pyodide.globals.get("run");
  forward(pyodide);
  enter("script");
  postMessage({ kind: "running", python, numpy });
  const begun = performance.now();
  const status = main(path);
  postMessage({ kind: "done", status, seconds: (performance.now() - begun) / 1000 });
}

function enter(next) {
  stage = next;
  postMessage({ kind: "stage", stage });
}

/* Passes on what is printed as it comes: a script that never ends would show nothing else. */
function forward(pyodide) {
  let characters = 0;
  let writes = 0;
  for (const stream of ["stdout", "stderr"]) {
    const decoder = new TextDecoder();
    const write = (bytes) => {
      if (characters <= MAX_CHARACTERS && writes <= MAX_WRITES) {
        const text = decoder.decode(bytes, { stream: true });
        characters += text.length;
        writes += 1;
        postMessage({ kind: "output", stream, text });
        if (characters > MAX_CHARACTERS || writes > MAX_WRITES) postMessage({ kind: "flood" });
      }
      return bytes.length;
    };
    if (stream === "stdout") pyodide.setStdout({ write });
    else pyodide.setStderr({ write });
  }
}

/*
 * From here on, whatever is fetched must be what the site's author saw. Pyodide waits for ever for
 * some of what does not come; so the first thing that does not is told by the promise returned.
 */
function watchFetches(integrity) {
  const fetchAnything = self.fetch.bind(self);
  return new Promise((_, reject) => {
    self.fetch = async (resource, options) => {
      const { href } = new URL(resource.url ?? resource, self.location);
      const checked = integrity[href] && {
        integrity: integrity[href],
        credentials: "omit",
        referrerPolicy: "no-referrer",
      };
      try {
        const answer = await fetchAnything(resource, { ...options, ...checked });
        if (!answer.ok) reject(new Error(`${href}: ${answer.status} ${answer.statusText}`.trim()));
        return answer;
      } catch (error) {
        reject(new Error(`${href}: ${error.message}`));
        throw error;
      }
    };
  });
}

/* importScripts checks no integrity, fetch does; the site's own files need no check. */
async function loadScript(url, integrity) {
  if (!integrity[url]) {
    importScripts(url);
    return;
  }
  const text = new Blob([await bytesOf(url)], { type: "text/javascript" });
  const checked = URL.createObjectURL(text);
  importScripts(checked);
  URL.revokeObjectURL(checked);
}

async function bytesOf(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${answer.statusText}`.trim());
  return answer.arrayBuffer();
}
