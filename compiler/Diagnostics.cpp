// SPDX-License-Identifier: Apache-2.0
// Collecting and printing of faults.
#include "compiler/Diagnostics.h"

using namespace dlc;

std::string Diagnostic::str() const {
  std::string place = location.str();
  return place.empty() ? message : place + ": " + message;
}

void Diagnostics::note(Location location, const llvm::Twine &message) {
  remarks.push_back({std::move(location), message.str()});
}

void Diagnostics::error(Location location, const llvm::Twine &message) {
  // Names come from the model's file: nothing in them may steer a terminal.
  std::string text = message.str();
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      c = '?';
  faults.push_back({std::move(location), std::move(text)});
}

void Diagnostics::print(llvm::raw_ostream &os, llvm::StringRef prefix) const {
  for (const Diagnostic &fault : faults)
    os << prefix << fault.str() << '\n';
}
