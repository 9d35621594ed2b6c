# Sourced by ./run and ./test: the packages that building and testing need, and how to get them.

# Debian 12 names. Development tools (clang-format, clang-tidy, libFuzzer, Google Benchmark) are not here:
# neither ./run nor ./test uses them.
krait_packages=(
  cmake
  g++
  git                # the commit in job rows
  libcli11-dev
  libfmt-dev
  libgmock-dev
  libgtest-dev
  libhwy-dev
  libjs-chart.js     # embedded in the report
  libsqlite3-dev
  ninja-build
  nlohmann-json3-dev
  python3            # test summary
)

# Prints the packages of the list that are not installed.
missing_packages() {
  local package
  for package in "${krait_packages[@]}"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}

# Makes sure that all packages are there. Needs the network only if one is missing.
ensure_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "note: no dpkg here, so packages are not checked; needed: ${krait_packages[*]}" >&2
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages)
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "Packages are missing. Run this, then try again:" >&2
    echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  echo "installing ${missing[*]}" >&2
  # apt's progress goes to stderr: stdout belongs to the command's result.
  apt-get update -q >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" >&2
}

# build_preset PRESET TARGET...: configures and builds with all cores, through ccache if it is there.
build_preset() {
  local preset=$1
  shift
  if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
  cmake --preset "$preset" >&2
  cmake --build "build/$preset" --target "$@" >&2
}
