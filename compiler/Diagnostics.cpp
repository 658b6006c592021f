// SPDX-License-Identifier: Apache-2.0
// Collecting and printing of faults.
#include "compiler/Diagnostics.h"

using namespace dlc;

std::string Diagnostic::str() const {
  std::string place = location.str();
  return place.empty() ? message : place + ": " + message;
}

/// Names come from the model's file: nothing in them may steer a terminal.
static std::string printable(const llvm::Twine &message) {
  std::string text = message.str();
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      c = '?';
  return text;
}

void Diagnostics::note(Location location, const llvm::Twine &message) {
  Diagnostic remark{std::move(location), printable(message)};
  // Each specialisation says what they share.
  for (const Diagnostic &said : remarks)
    if (said.str() == remark.str())
      return;
  remarks.push_back(std::move(remark));
}

void Diagnostics::error(Location location, const llvm::Twine &message) {
  faults.push_back({std::move(location), printable(message)});
}

void Diagnostics::print(llvm::raw_ostream &os, llvm::StringRef prefix) const {
  for (const Diagnostic &fault : faults)
    os << prefix << fault.str() << '\n';
}
