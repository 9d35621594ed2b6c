#include "krait/study/fidelity/fidelity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
